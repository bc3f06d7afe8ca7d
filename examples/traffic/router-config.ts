/** A router of the example: where it listens, and what it does for its own host. */
export interface RouterConfig {
  /** Where certificates and settings are kept: a path without ending. */
  readonly files: string
  readonly linkPort: number
  readonly edgePort: number
  /** A service that it dials for programs that connect to a port, or nothing: then it hosts. */
  readonly proxied?: { readonly service: string; readonly port: number }
}

/** The configuration file of a router. Where the controller is it learns from its enrollment token. */
export function routerConfig({ files, linkPort, edgePort, proxied }: RouterConfig): string {
  const tunnel =
    proxied === undefined ? '{ mode: host }' : `{ mode: proxy, services: ["${proxied.service}:${proxied.port}"] }`
  return `v: 3
identity:
  cert: ${files}.cert.pem
  server_cert: ${files}.server.pem
  key: ${files}.key.pem
  ca: ${files}.ca.pem
ctrl:
  endpointsFile: ${files}.endpoints.yml
link:
  dialers:
    - binding: transport
  listeners:
    - binding: transport
      bind: tls:127.0.0.1:${linkPort}
      advertise: tls:127.0.0.1:${linkPort}
listeners:
  - binding: edge
    address: tls:127.0.0.1:${edgePort}
    options: { advertise: "127.0.0.1:${edgePort}" }
  - binding: tunnel
    options: ${tunnel}
edge:
  db: ${files}.model.gz
  csr: { country: US, province: NC, locality: C, organization: O, organizationalUnit: U, sans: { dns: [localhost], ip: ["127.0.0.1"] } }
metrics: { reportInterval: 15s, messageQueueSize: 10 }
`
}
