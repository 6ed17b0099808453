# The app alone; compose.yaml adds servers. docs/install.md says which of this was tried, and how.
FROM python:3.11-slim-bookworm AS build
COPY --from=ghcr.io/astral-sh/uv:0.9.5 /uv /usr/local/bin/uv
COPY . /source
# requirements-team.lock: PostgreSQL, signing in, figures and Ray too.
ARG LOCK=requirements.lock
ARG UV_NO_CACHE=1
RUN uv venv /app
RUN uv pip install --python /app --require-hashes -r /source/$LOCK
RUN uv pip install --python /app --no-deps /source

FROM python:3.11-slim-bookworm
COPY --from=build /app /app
RUN useradd --uid 1000 --create-home workbench && install -d -o workbench -g workbench /data
ENV PATH=/app/bin:/usr/local/bin:/usr/bin:/bin PYTHONPYCACHEPREFIX=/tmp/pycache
ENV WORKBENCH_HOST=0.0.0.0 WORKBENCH_DATA_DIR=/data
USER workbench
WORKDIR /data
VOLUME /data
EXPOSE 8501
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/api/health')"]
CMD ["rag-workbench"]
