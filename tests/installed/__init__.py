"""The program as it is installed elsewhere: wheel, environment, container, other systems."""
