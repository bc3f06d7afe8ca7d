/** The steps of an enrollment that commands and test kits take as well. Rooms of the network take the files by themselves. */

export { certificatesIn, createSigningRequest } from './created-requests.ts'
export { synced, writeDurably, writeNewDurably } from './durable-file.ts'
export { type HttpsFetchOptions, httpsFetch } from './https-fetch.ts'
export { readEnrollmentToken } from './token-issuer.ts'
