"""How alike two pages are: by their tags, their structure, their style, their links and forms, and what they say."""
