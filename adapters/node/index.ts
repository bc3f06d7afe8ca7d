/**
 * An HTTPS server, a listener for `node:http`, PKI folders, and a `fetch` with client certificates.
 *
 * @module portcullis/node
 */
export { type HttpsFetchOptions, httpsFetch } from './client/https-fetch.ts'
export { connectionInfo } from './connection-info.ts'
export type { ControlChannelOptions, FabricSource } from './control-channel.ts'
export { RequestAborted, RequestRefused } from './http/refusal.ts'
export { type ToRequestOptions, toRequest } from './http/request.ts'
export { sendResponse } from './http/response.ts'
export { createListener, type Listener, type ListenerOptions } from './listener.ts'
export {
  openPkiDirectory,
  type PkiDirectoryOpening,
  type PkiDirectoryRequest,
  pkiFilesIn,
} from './pki/pki-directory.ts'
export { PkiFileError, type PkiFiles, readPkiFiles, readServerFiles } from './pki/pki-files.ts'
export { type RunningServer, type ServableController, type ServeOptions, serve } from './server.ts'
export { type Address, formatAddress, isWildcardHost, parseAddress } from './sockets/address.ts'
export { peerCertificates } from './tls/peer-certificates.ts'
export { type ServerCertificateFacts, serverCertificateFacts } from './tls/server-certificate.ts'
export { type ServerCertificate, tlsOptions } from './tls/tls-options.ts'
