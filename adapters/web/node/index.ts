/**
 * An HTTPS server, a listener for `node:http`, PKI folders, and a `fetch` with client certificates.
 *
 * @module portcullis/node
 */

export { type Address, formatAddress, isWildcardHost, parseAddress } from '../../network/channel/index.ts'
export { type HttpsFetchOptions, httpsFetch } from '../../network/enrollment/index.ts'
export { connectionInfo, peerCertificates } from './connection-info.ts'
export type { ControlChannelOptions, FabricSource } from './fabric-port.ts'
export { RequestAborted, RequestRefused } from './http/early-response.ts'
export { type ToRequestOptions, toRequest } from './http/request.ts'
export { sendResponse } from './http/response.ts'
export { createListener, type Listener, type ListenerOptions } from './listener.ts'
export type { LocalRouter } from './local-router.ts'
export {
  openPkiDirectory,
  type PkiDirectoryOpening,
  type PkiDirectoryRequest,
  pkiFilesIn,
} from './pki-directory.ts'
export { PkiFileError, type PkiFiles, readPkiFiles, readServerFiles } from './pki-files.ts'
export { DEFAULT_MAX_CONNECTIONS, serve } from './server.ts'
export type {
  RoutedServeOptions,
  RoutedServer,
  RunningServer,
  ServableController,
  ServeOptions,
} from './server-options.ts'
export {
  type ServerCertificate,
  type ServerCertificateFacts,
  serverCertificateFacts,
  tlsOptions,
} from './tls-sockets.ts'
