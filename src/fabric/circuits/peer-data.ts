import { toHex } from '../../base/bytes.ts'
import { PEER_DATA } from '../../facts/data-plane/peer-data-keys.ts'
import type { PeerData } from '../../facts/fabric/messages/index.ts'
import type { Terminator } from './terminator-selection.ts'

/** Items of a route result that are for the controller alone, by number; clients do not get them. */
const FOR_THE_CONTROLLER: ReadonlySet<number> = new Set([1110, 1111, 1112, 1113])

/** Picks the items of the host for the client: those it registered with, and those of its answer to this very dial. */
export function sharedWithClient(registered: PeerData, answered: PeerData): PeerData {
  return new Map([...registered, ...answered].filter(([key]) => !FOR_THE_CONTROLLER.has(key)))
}

/** Why a dial to a service that asks for encryption is refused. */
export function keyProblem(service: { readonly encryptionRequired: boolean }, dialer: PeerData): string | undefined {
  if (!service.encryptionRequired || dialer.has(PEER_DATA.publicKey)) return undefined
  return 'encryption required on service, initiator did not send public header'
}

/** The peer data with which a terminator was registered. */
export function storedPeerData({ peerData }: Pick<Terminator, 'peerData'>): PeerData {
  return new Map(Object.entries(peerData).map(([key, hex]) => [Number(key), fromHex(hex)]))
}

/** Peer data in the form that records keep: hexadecimal texts. */
export function recordedPeerData(peerData: PeerData): Terminator['peerData'] {
  return Object.fromEntries([...peerData].map(([key, bytes]) => [String(key), toHex(bytes)]))
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
