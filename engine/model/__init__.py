"""The ground floor: values, events with their fold, decisions and configuration."""
