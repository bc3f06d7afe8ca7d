import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import { TLSSocket } from 'node:tls'

/** The headers that this proxy alone may set: what a client sends under these names is dropped. */
export const ADDRESS_HEADER = 'x-real-ip'
export const CERTIFICATE_HEADER = 'x-client-cert'

/**
 * Ends TLS and passes requests on, as nginx does with the configuration beside this file. `tls` has to ask for client
 * certificates and to leave it to the controller to judge them, as `tlsOptions` does.
 */
export function createProxy(tls: ServerOptions, inner: { readonly port: number }): Server {
  return createServer(tls, (incoming, outgoing) => {
    const { method, url: path } = incoming
    const headers = { ...withoutOurs(incoming.headers), ...factsOf(incoming) }
    const passed = request({ host: '127.0.0.1', port: inner.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => badGateway(outgoing))
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
}

function withoutOurs(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { [ADDRESS_HEADER]: _address, [CERTIFICATE_HEADER]: _certificate, ...others } = headers
  return others
}

/** The certificate in the form of nginx's `$ssl_client_escaped_cert`: PEM with URL escapes. */
function factsOf({ socket }: IncomingMessage): IncomingHttpHeaders {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
  return {
    [ADDRESS_HEADER]: socket.remoteAddress,
    ...(certificate === undefined ? {} : { [CERTIFICATE_HEADER]: encodeURIComponent(certificate.toString()) }),
  }
}

function badGateway(outgoing: ServerResponse): void {
  if (outgoing.headersSent) outgoing.destroy()
  else outgoing.writeHead(502).end()
}
