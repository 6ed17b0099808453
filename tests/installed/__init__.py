"""The program as it is installed on other machines: wheel, environment, container, other systems."""
