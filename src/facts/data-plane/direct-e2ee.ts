/**
 * DirectE2EE, mode 2: TLS 1.3 between the two ends of a circuit. Each end proves its identity by its certificate. OpenZiti discusses this
 * form and has not settled it: every number, word and rule of the wire that may still change is in this file.
 */

/** Items of a dial, a bind and their answers that routers carry on as they are. OpenZiti has given its own no numbers yet. */
export const DIRECT_HEADER = {
  /** `DirectE2EEMode`: a mode that its sender takes part in, or that the controller found. */
  mode: 1097,
  /** `DirectE2EECircuitToken`: the identities that the controller let meet over the circuit. */
  token: 1098,
} as const

type Headers = ReadonlyMap<number, Uint8Array>

/** TLS 1.3 by any cryptography: the only mode that is left. */
const STANDARD_MODE = 2
/** The answer of a controller to one end where the other end takes part in no mode. */
const LEGACY_MODE = 1

/** The demand of a network on connections that are encrypted from end to end: any form, or this form alone. */
export type DirectPolicy = 'permissive' | 'directOnly'

const CAPABLE = 'E2EE_DIRECT'

/** How a controller takes part: its policy, and its abilities in the words of `/version`. */
export interface DirectSettings {
  readonly policy: DirectPolicy
  readonly capabilities: readonly string[]
}

/** The settings of a controller by its policy. */
export function directSettings(policy: DirectPolicy): DirectSettings {
  return { policy, capabilities: policy === 'permissive' ? [CAPABLE] : [CAPABLE, 'E2EE_DIRECT_REQUIRED'] }
}

/** Whether a controller of some abilities issues circuit tokens. */
export function issuesCircuitTokens(capabilities: readonly string[]): boolean {
  return capabilities.includes(CAPABLE)
}

/** Seconds for which a circuit token is valid. */
const TOKEN_SECONDS = 180

/** How refusals that concern DirectE2EE begin: endpoints tell them by it, as there is no number of an error yet. */
const DIRECT_WORD = 'DirectE2EE'

/** A text that begins as refusals do that concern DirectE2EE. */
export function directText(text: string): string {
  return `${DIRECT_WORD}: ${text}`
}

/** The item by which an end says that it takes part. */
export function directOffer(): readonly [number, Uint8Array] {
  return [DIRECT_HEADER.mode, Uint8Array.of(STANDARD_MODE)]
}

/** Whether the sender of items takes part; from a controller, whether both ends do. */
export function offersDirect(headers: Headers): boolean {
  return modeIn(headers) === STANDARD_MODE
}

/** Whether a controller says that the other end takes no part. */
export function lacksPeer(headers: Headers): boolean {
  return modeIn(headers) === LEGACY_MODE
}

/** The items of a controller for one end: that both ends take part, with the token, or that the other end takes no part. */
export function directTerms(token: string | undefined): readonly (readonly [number, Uint8Array])[] {
  if (token === undefined) return [[DIRECT_HEADER.mode, Uint8Array.of(LEGACY_MODE)]]
  return [directOffer(), [DIRECT_HEADER.token, new TextEncoder().encode(token)]]
}

/** The same items without the mode and the token, which a controller sets. */
export function withoutTerms(headers: Headers): Headers {
  return new Map([...headers].filter(([key]) => key !== DIRECT_HEADER.mode && key !== DIRECT_HEADER.token))
}

/** The text of the circuit token among items. */
export function circuitTokenIn(headers: Headers): string | undefined {
  const bytes = headers.get(DIRECT_HEADER.token)
  return bytes && new TextDecoder().decode(bytes)
}

/** The application protocol of the TLS connection: bytes of one circuit are of no use in another. */
export function directProtocol(circuitId: string): string {
  return `ziti-e2ee/1/std/${circuitId}`
}

/** The parties of a circuit, as its controller let them meet. */
export interface CircuitParties {
  readonly circuitId: string
  readonly serviceId: string
  readonly dialer: DirectParty
  readonly host: DirectParty
}

export interface DirectParty {
  readonly id: string
  readonly name: string
  /** SHA-1 of the certificates that the controller takes from it, in lower-case hexadecimal. */
  readonly fingerprints: readonly string[]
}

/**
 * The claims of a circuit token. `z_sid`, the names and the fingerprints are ours. Without `z_sid` a router could bring a dialer of one
 * service to another service of the same host. Without the names an app would know the proved caller by an id alone. Without the
 * fingerprints a replaced or withdrawn certificate would prove its identity until it expires.
 */
export function circuitTokenClaims(issuer: string, parties: CircuitParties, nowMs: number) {
  const { circuitId, serviceId, dialer, host } = parties
  const issuedAt = Math.floor(nowMs / 1000)
  return {
    iss: issuer,
    aud: [dialer.id, host.id],
    iat: issuedAt,
    exp: issuedAt + TOKEN_SECONDS,
    z_ii: dialer.id,
    z_ti: host.id,
    z_cid: circuitId,
    z_sid: serviceId,
    z_in: dialer.name,
    z_tn: host.name,
    z_if: dialer.fingerprints,
    z_tf: host.fingerprints,
  }
}

/** The parties in the claims of a token whose signature and end were judged; a text is the reason why the claims name no parties. */
export function partiesIn(claims: Readonly<Record<string, unknown>>): CircuitParties | string {
  const { aud, z_cid: circuitId, z_sid: serviceId } = claims
  const dialer = partyIn(claims.z_ii, claims.z_in, claims.z_if)
  const host = partyIn(claims.z_ti, claims.z_tn, claims.z_tf)
  if (dialer === undefined || host === undefined) return 'its token names no two identities and their certificates'
  if (typeof circuitId !== 'string' || typeof serviceId !== 'string') return 'its token names no circuit, or no service'
  const isForBoth =
    Array.isArray(aud) && JSON.stringify([...aud].sort()) === JSON.stringify([dialer.id, host.id].sort())
  return isForBoth ? { circuitId, serviceId, dialer, host } : 'its token is for others'
}

function partyIn(id: unknown, name: unknown, fingerprints: unknown): DirectParty | undefined {
  if (typeof id !== 'string' || typeof name !== 'string' || !Array.isArray(fingerprints)) return undefined
  return { id, name, fingerprints: fingerprints.filter((one) => typeof one === 'string') }
}

/** The facts of this end that a token must agree with. */
export interface DirectEnd {
  readonly role: 'dialer' | 'host'
  readonly identityId: string
  readonly serviceId: string
  /** As the router says; the token must name the same. */
  readonly circuitId: string
}

/** Why the parties of a token are not those of a connection; undefined where they are. */
export function partyProblem(
  parties: CircuitParties,
  { role, identityId, serviceId, circuitId }: DirectEnd,
): string | undefined {
  if (parties[role].id !== identityId) return 'its token is for another identity'
  if (parties.circuitId !== circuitId) return 'its token is for another circuit'
  return parties.serviceId === serviceId ? undefined : 'its token is for another service'
}

/** The issuer that the tokens of a controller name, by its address `host:port`. */
export function circuitIssuer(address: string): string {
  return `${new URL(`https://${address}`).origin}${ISSUER_PATH}`
}

/** The address of the keys of an issuer; undefined for an invalid text. */
export function issuerKeys(issuer: string): { readonly origin: string; readonly keys: string } | undefined {
  if (!URL.canParse(issuer)) return undefined
  const { origin, protocol } = new URL(issuer)
  if (protocol !== 'https:' || issuer !== `${origin}${ISSUER_PATH}`) return undefined
  return { origin, keys: `${issuer}/keys` }
}

const ISSUER_PATH = '/oidc'

/** The identity that a certificate of a network names. */
export interface NamedIdentity {
  readonly trustDomain: string
  readonly identityId: string
}

/** The identity of a SPIFFE id: of an identity itself, or of one of its sessions. */
export function identityOfSpiffe(uri: string): NamedIdentity | undefined {
  const found = /^spiffe:\/\/([^/?#]+)\/identity\/([^/?#]+)(\/[^?#]*)?$/.exec(uri)
  const [, trustDomain, identityId] = found ?? []
  return trustDomain === undefined || identityId === undefined ? undefined : { trustDomain, identityId }
}

function modeIn(headers: Headers): number | undefined {
  const value = headers.get(DIRECT_HEADER.mode)
  return value?.length === 1 ? value[0] : undefined
}
