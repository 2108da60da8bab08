"""The document of the API in OpenAPI 3.1, one for each microversion.

It is made of what is in force: the models of requests, the shapes beside the views, the versions that
`supported` gives responders, the codes of errors. `operations` ties these together; a route without a
line there fails the tests, as does an answer that the document does not have.
"""
