# The container sandbox. The tag is the version of @cloudflare/sandbox in package.json; a test holds them together.
# Whatever else agents should find in it (Python: the tag with -python; other tools: RUN apt-get …) goes here.
FROM docker.io/cloudflare/sandbox:0.12.10
