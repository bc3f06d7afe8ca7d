import { X509Certificate } from 'node:crypto'
import { type Facts, isGranted, isNear, mayMeet, mayMeetAt, mayUse } from './facts.ts'
import type { Network, Subject } from './ways.ts'

type Kind = 'zt' | 'bearer'
type Made = 'A' | 'B'

/** An ending by itself, with nothing else that the fact is derived from. */
export type Fiat =
  | `zt-${Made}`
  | `bearer-${Made}`
  | `access-${Made}`
  | `refresh-${Made}`
  | `session-${Made}`
  | 'begun'
  | 'credential'
  /** The authority of the certificate, and of the next one if its holder extended it before. */
  | 'authority'
  | 'time'
  | 'clients'
  | 'locked'
  | 'posture'
  | 'terminators'
  | 'channels-r1'
  | 'channels-r2'
  | 'process-A'
  /** The session by which its holder replaced the credential, and which goes on with the next one. */
  | `kept-${Kind}-A`

/** The router of a process's own, and somebody at it who hosts what the subject dials and dials what it hosts. */
export interface OwnPlace {
  readonly routerId: string
  readonly partnerId: string
}

/** Members of a signer or an authority that decide whom it lets in. */
const DECISIVE = ['issuer', 'audience', 'certPem', 'kid', 'claimsProperty', 'useExternalId', 'externalIdClaim'] as const

/**
 * Says what every door should answer, from what an administrator saw before the ending, and after each step of it. It asks
 * two things only: would this login be let in now, and was what it let in without a break all the while?
 */
export class Judge {
  readonly #network: Network
  readonly #subject: Subject
  readonly #history: readonly Facts[]
  readonly #fiats: ReadonlySet<Fiat>

  constructor(network: Network, subject: Subject, history: readonly Facts[], fiats: Iterable<Fiat>) {
    this.#network = network
    this.#subject = subject
    this.#history = history
    this.#fiats = new Set(fiats)
  }

  /** Whether a new login in the same way, with the same credentials, gets in and may act. */
  logsIn(): boolean {
    const isAdmitted = !this.#fiats.has('locked') && !this.#now.shutOut.has(this.#subject.id)
    return isAdmitted && this.#isLetIn(this.#now) && !this.#lacksFactor(this.#now, true)
  }

  /** The same by OpenID Connect, whose clients may be sent back where the settings say. */
  logsInByRedirect(): boolean {
    return !this.#fiats.has('clients') && this.logsIn()
  }

  /** Whether an API session is still there: nothing that it was made from ever failed since. */
  stands(kind: Kind | 'begun', made: Made): boolean {
    if (this.#fiats.has(kind === 'begun' ? 'begun' : `${kind}-${made}`)) return false
    const isKept = kind !== 'begun' && made === 'A' && this.#fiats.has(`kept-${kind}-A`)
    return this.#always(
      (facts, before) =>
        this.#isLetIn(facts, isKept) && !this.#gainedUnvouched(before, facts) && !this.#isReadAnew(before, facts),
    )
  }

  acts(kind: Kind, made: Made): boolean {
    if (kind === 'bearer' && this.#fiats.has(`access-${made}`)) return false
    return this.stands(kind, made) && !this.#lacksFactor(this.#now)
  }

  /** Whether a new login is let in, and all that it needs is a factor. */
  waitsAnew(): boolean {
    if (this.#now.shutOut.has(this.#subject.id)) return false
    return this.#isLetIn(this.#now) && this.#lacksFactor(this.#now, true)
  }

  /** Whether a session is there, and all that it needs is a factor. */
  waits(made: Made): boolean {
    return this.stands('zt', made) && this.#lacksFactor(this.#now)
  }

  /** The demands of user info on a session. */
  isTold(made: Made): boolean | undefined {
    return this.acts('bearer', made)
  }

  manages(kind: Kind, made: Made): boolean {
    return this.acts(kind, made) && this.#mayManage(this.#now)
  }

  /** With bearer tokens routers judge the posture, not the opening of a session. */
  opens(type: 'Dial' | 'Bind', kind: Kind, made: Made): boolean | undefined {
    if (kind === 'bearer' && this.#fiats.has('posture')) return undefined
    return this.acts(kind, made) && this.#mayUse(this.#now, type)
  }

  /** Whether a service is shown among those of the identity, which may dial or host them: its posture does not hide it. */
  lists(type: 'Dial' | 'Bind', kind: Kind, made: Made): boolean {
    const may = (action: 'Dial' | 'Bind') => isGranted(this.#now, this.#subject.id, this.#serviceId(type), action)
    return this.acts(kind, made) && (may('Dial') || may('Bind'))
  }

  /** Whether a router is shown among those of the identity; an administrator sees all. */
  listsRouter(name: 'r1' | 'r2', kind: Kind, made: Made): boolean | undefined {
    const { id } = this.#network[name]
    const { identity } = this.#parts(this.#now)
    const router = this.#now.of['edge-routers'].get(id)
    if (router?.name !== name || !this.isConnected(name)) return undefined
    return this.acts(kind, made) && (identity?.isAdmin === true || isNear(this.#now, identity, router))
  }

  /** A service session may be shown though no router is left for it. */
  showsSession(made: Made): boolean | undefined {
    if (this.acts('zt', made) && this.#hasSession('Dial', made)) return true
    return this.acts('zt', made) &&
      this.#always((facts) => this.#isGranted(facts, 'Dial')) &&
      !this.#fiats.has(`session-${made}`)
      ? undefined
      : false
  }

  /** By a service session of before. */
  dials(kind: Kind, made: Made): boolean | undefined {
    // Routers judge the posture of clients with tokens by themselves.
    if (kind === 'bearer' && this.#fiats.has('posture')) return undefined
    const isAble = this.acts(kind, made) && this.#isCarried(this.#now, 'Dial') && this.#mayUse(this.#now, 'Dial')
    if (kind === 'zt') return isAble && this.#hasSession('Dial', made)
    // The token says all: where access came back, it may be good again.
    return isAble && !this.#hasSession('Dial', made, kind) ? undefined : isAble
  }

  dialsAnew(kind: Kind, made: Made): boolean | undefined {
    if (kind === 'bearer' && this.#fiats.has('posture')) return undefined
    return this.acts(kind, made) && this.#mayUse(this.#now, 'Dial') && this.#isCarried(this.#now, 'Dial')
  }

  /** Whether a circuit that ran goes on. */
  dialsOn(kind: Kind, made: Made): boolean | undefined {
    if (kind === 'bearer' && this.#fiats.has('posture')) return undefined
    return this.#always((facts) => this.#isCarried(facts, 'Dial')) && this.#usedAllTheWhile('Dial', kind, made)
  }

  hosts(kind: Kind, made: Made): boolean | undefined {
    const isNearby = mayMeet(this.#now, this.#subject.id, this.#serviceId('Bind'), this.#network.r2.id)
    const isAble = this.acts(kind, made) && this.isConnected('r2') && isNearby && this.#mayUse(this.#now, 'Bind')
    if (kind === 'zt') return isAble && this.#hasSession('Bind', made)
    return isAble && !this.#hasSession('Bind', made, kind) ? undefined : isAble
  }

  /** Whether circuits of others to what it hosts go on: a terminator that an administrator deletes is for new ones. */
  hostsOn(kind: Kind, made: Made): boolean | undefined {
    if (this.#fiats.has('terminators')) return undefined
    return this.#always((facts) => this.#isCarried(facts, 'Bind')) && this.#isTerminatorGood(kind, made)
  }

  /** A terminator to which others are not led any more may be listed until its router takes it away. */
  isListed(kind: Kind, made: Made): boolean | undefined {
    if (this.#fiats.has('terminators')) return false
    return this.#isTerminatorGood(kind, made) || undefined
  }

  /** Whether others are led to a terminator of before. */
  isDialed(kind: Kind, made: Made): boolean | undefined {
    if (!this.#isCarried(this.#now, 'Bind')) return false
    if (this.#isTerminatorGood(kind, made)) return true
    // A session that lacked a factor waits, and so does what it hosts, if its router has not taken that away.
    // An access token that ran out meanwhile ends nothing: the session goes on without it.
    const isWhole = this.stands(kind, made) && !this.#lacksFactor(this.#now)
    // Where the right came back, so may the terminator of tokens: no service session ended in between.
    const isGranted = kind === 'bearer' ? this.#mayUse(this.#now, 'Bind') : this.#hasSession('Bind', made, kind)
    const hasWaited = isWhole && isGranted && this.isConnected('r2')
    return hasWaited && !this.#fiats.has('terminators') ? undefined : false
  }

  /** Whether a stream that its SDK dialed over the router of a process's own goes on. */
  sdkDialsOn(place: OwnPlace): boolean | undefined {
    return this.#always((facts) => this.#isCarriedAt(facts, 'Dial', place)) && this.#usedAllTheWhile('Dial', 'zt', 'A')
  }

  /** The same of somebody else's to what its SDK hosts there. */
  sdkHostsOn(place: OwnPlace): boolean | undefined {
    if (this.#fiats.has('terminators')) return undefined
    return this.#always((facts) => this.#isCarriedAt(facts, 'Bind', place)) && this.#usedAllTheWhile('Bind', 'zt', 'A')
  }

  /** An SDK whose session ended logs in again by itself. */
  sdkDials(place: OwnPlace): boolean | undefined {
    if (!this.#isCarriedAt(this.#now, 'Dial', place)) return false
    return (this.acts('zt', 'A') || this.logsIn()) && this.#mayUse(this.#now, 'Dial')
  }

  /** Whether the terminators of the SDK are dialed: it may have to host again first, which takes a while. */
  sdkIsDialed(place: OwnPlace): boolean | undefined {
    const isAble = (this.acts('zt', 'A') || this.logsIn()) && this.#mayUse(this.#now, 'Bind')
    if (!isAble || !this.#isCarriedAt(this.#now, 'Bind', place)) return false
    return this.sdkHostsOn(place) ? true : undefined
  }

  streamsOn(made: Made): boolean | undefined {
    return this.stands('zt', made) && this.#always((facts) => this.#mayManage(facts) && !this.#lacksFactor(facts))
  }

  /** Whether a channel of an operator that was open goes on. */
  operatesOn(made: Made): boolean {
    return this.stands('zt', made) && this.#always((facts) => this.#mayOperate(facts) && !this.#lacksFactor(facts))
  }

  operates(kind: Kind, made: Made): boolean {
    return this.acts(kind, made) && this.#mayOperate(this.#now)
  }

  isAnnounced(made: Made): boolean | undefined {
    if (!this.hears()) return undefined
    return this.stands('zt', made) && !this.#lacksFactor(this.#now)
  }

  /** A router that judges tokens by itself has to hear that they are over; that they expire they say themselves. */
  isGoodByModel(made: Made): boolean | undefined {
    if (this.#fiats.has('time') || !this.hears()) return undefined
    if (this.#fiats.has(`access-${made}`)) return false
    if (!this.stands('bearer', made)) return false
    return this.#lacksFactor(this.#now) ? undefined : true
  }

  isInModel(): boolean | undefined {
    return this.hears() ? this.#isThere(this.#now) : undefined
  }

  /** Whether the router where circuits begin hears of anything: one without a channel does not, and carries nothing either. */
  hears(): boolean {
    return this.isConnected('r1')
  }

  isRelated(type: 'Dial' | 'Bind'): boolean | undefined {
    const { identity } = this.#parts(this.#now)
    // Who is not there, or shut out, has no use of a policy.
    if (identity === undefined || identity.disabled || !this.hears()) return undefined
    return mayUse(this.#now, identity.id, this.#serviceId(type), type) || undefined
  }

  isConnected(router: 'r1' | 'r2'): boolean {
    return !this.#fiats.has(`channels-${router}`) && this.#always((facts) => this.#isRouterGood(facts, router))
  }

  /** Whether tokens beget tokens: of a session that lacks a factor they are worth nothing, given or not. */
  renews(made: Made): boolean | undefined {
    if (!this.stands('bearer', made)) return false
    return this.#lacksFactor(this.#now) ? undefined : true
  }

  refreshes(made: Made): boolean | undefined {
    return this.#fiats.has(`refresh-${made}`) ? false : this.renews(made)
  }

  exchanges(made: Made): boolean | undefined {
    return this.#fiats.has(`access-${made}`) ? false : this.renews(made)
  }

  /** Whether a login under way comes to its end. What kept it out for a time only may keep it out for good, or not. */
  completes(made: Made): boolean | undefined {
    if (this.#fiats.has('locked')) return undefined
    if (!this.logsInByRedirect() || this.#fiats.has('begun')) return false
    if (this.stands('begun', made)) return true
    const isThere = this.#always((facts) => this.#isThere(facts))
    return isThere && !this.#fiats.has('credential') ? undefined : false
  }

  /** Whether a session that lacked a factor acts, once that is proved. */
  completesSession(made: Made): boolean | undefined {
    return this.#fiats.has('time') ? false : this.completes(made)
  }

  get #now(): Facts {
    const last = this.#history.at(-1)
    if (last === undefined) throw new Error('nothing was seen')
    return last
  }

  #always(holds: (facts: Facts, before: Facts) => boolean): boolean {
    return this.#history.every((facts, index) => holds(facts, this.#history[index - 1] ?? facts))
  }

  #parts(facts: Facts) {
    const identity = facts.of.identities.get(this.#subject.id)
    return { identity, policy: identity && facts.of['auth-policies'].get(identity.authPolicyId) }
  }

  #isThere(facts: Facts): boolean {
    const { identity } = this.#parts(facts)
    return identity !== undefined && !identity.disabled
  }

  /** Whether the first factor gets in. */
  #isLetIn(facts: Facts, isKept = false): boolean {
    const { identity, policy } = this.#parts(facts)
    if (identity === undefined || policy === undefined || identity.disabled) return false
    const { updb, cert, extJwt } = policy.primary
    const isReplaced = this.#fiats.has('credential') && !isKept
    if ((isReplaced || this.#fiats.has('authority')) && facts !== this.#history[0]) return false
    switch (this.#subject.way) {
      case 'password':
      case 'totp':
      case 'signed':
        return updb.allowed && this.#keepsAuthenticator(facts, 'updb')
      case 'cert':
        return cert.allowed && this.#keepsAuthenticator(facts, 'cert') && this.#isUnexpired(facts, cert)
      case 'ca': {
        const isVouched = this.#vouches(facts, 'cas', this.#network.ca.id)
        return cert.allowed && isVouched && this.#keepsAuthenticator(facts, 'cert') && this.#isUnexpired(facts, cert)
      }
      case 'claim': {
        const isVouched = this.#vouches(facts, 'cas', this.#network.claimCa.id)
        return cert.allowed && isVouched && this.#keepsExternalId(facts) && this.#isUnexpired(facts, cert)
      }
      case 'jwt': {
        const { id } = this.#network.signer
        const isListed = extJwt.allowedSigners.length === 0 || extJwt.allowedSigners.includes(id)
        return (
          extJwt.allowed && isListed && this.#vouches(facts, 'external-jwt-signers', id) && this.#keepsExternalId(facts)
        )
      }
    }
  }

  /** Whether a third party is there, in force, what it was, and trusted as far as the identity has rights. */
  #vouches(facts: Facts, kind: 'cas' | 'external-jwt-signers', id: string): boolean {
    const [first, now] = [this.#history[0]?.of[kind].get(id), facts.of[kind].get(id)]
    if (first === undefined || now === undefined) return false
    const isInForce = kind === 'cas' ? now.isAuthEnabled : now.enabled && Date.parse(now.notAfter) > facts.now
    const isSame = DECISIVE.every((field) => JSON.stringify(first[field]) === JSON.stringify(now[field]))
    return isInForce && isSame && (facts.trusted.has(id) || !this.#hasRights(facts))
  }

  #hasRights(facts: Facts): boolean {
    const { identity } = this.#parts(facts)
    return identity?.isAdmin || (identity?.permissions ?? []).length > 0
  }

  /** A third party vouched for less than the identity is now. */
  #gainedUnvouched(before: Facts, facts: Facts): boolean {
    const { way } = this.#subject
    const isVouchedFor = way === 'ca' || way === 'claim' || way === 'jwt'
    if (!isVouchedFor) return false
    const [had, has] = [this.#parts(before).identity, this.#parts(facts).identity]
    if (had === undefined || has === undefined) return false
    const gained = (has.permissions ?? []).some((permission: string) => !(had.permissions ?? []).includes(permission))
    return (has.isAdmin && !had.isAdmin) || gained
  }

  /** The signer that let it in names another claim for role attributes. */
  #isReadAnew(before: Facts, facts: Facts): boolean {
    const [had, has] = [before, facts].map(({ of }) => of['external-jwt-signers'].get(this.#network.signer.id))
    return this.#subject.way === 'jwt' && had?.attributeClaimsSelector !== has?.attributeClaimsSelector
  }

  #keepsAuthenticator(facts: Facts, method: 'updb' | 'cert'): boolean {
    const own = [...(this.#history[0]?.of.authenticators.values() ?? [])].find(
      (authenticator) => authenticator.identityId === this.#subject.id && authenticator.method === method,
    )
    return own !== undefined && facts.of.authenticators.has(own.id)
  }

  #keepsExternalId(facts: Facts): boolean {
    return this.#parts(facts).identity?.externalId === `${this.#subject.way}@example`
  }

  #isUnexpired(facts: Facts, { allowExpiredCerts }: { readonly allowExpiredCerts: boolean }): boolean {
    const { certificate } = this.#subject
    if (allowExpiredCerts || certificate === undefined) return true
    return new X509Certificate(certificate.cert).validToDate.getTime() > facts.now
  }

  /** Whether a second factor is asked for that is not proved. A login that is new is asked for the app of its identity, too. */
  #lacksFactor(facts: Facts, isNew = false): boolean {
    const { identity, policy } = this.#parts(facts)
    if (identity === undefined || policy === undefined) return true
    const { requireTotp, requireExtJwtSigner } = policy.secondary
    const hasTotp = this.#subject.way === 'totp' && identity.isMfaEnabled
    if ((requireTotp || (isNew && identity.isMfaEnabled)) && !hasTotp) return true
    if (!requireExtJwtSigner) return false
    const isShown = this.#subject.way === 'signed' && requireExtJwtSigner === this.#network.second.id
    return (
      !isShown || !this.#keepsExternalId(facts) || !this.#vouches(facts, 'external-jwt-signers', requireExtJwtSigner)
    )
  }

  #mayManage(facts: Facts): boolean {
    return this.#mayDo(facts, 'service')
  }

  #mayOperate(facts: Facts): boolean {
    return this.#mayDo(facts, 'ops')
  }

  #mayDo(facts: Facts, permission: string): boolean {
    const { identity } = this.#parts(facts)
    return identity !== undefined && (identity.isAdmin || (identity.permissions ?? []).includes(permission))
  }

  #serviceId(type: 'Dial' | 'Bind'): string {
    return type === 'Dial' ? this.#subject.dials.serviceId : this.#subject.hosts.serviceId
  }

  #mayUse(facts: Facts, type: 'Dial' | 'Bind'): boolean {
    if (this.#fiats.has('posture') && type === 'Dial' && facts !== this.#history[0]) return false
    return mayUse(facts, this.#subject.id, this.#serviceId(type), type)
  }

  #isGranted(facts: Facts, type: 'Dial' | 'Bind'): boolean {
    if (this.#fiats.has('posture') && type === 'Dial' && facts !== this.#history[0]) return false
    return isGranted(facts, this.#subject.id, this.#serviceId(type), type)
  }

  #hasSession(type: 'Dial' | 'Bind', made: Made, kind: Kind = 'zt'): boolean {
    return !(kind === 'zt' && this.#fiats.has(`session-${made}`)) && this.#always((facts) => this.#mayUse(facts, type))
  }

  #usedAllTheWhile(type: 'Dial' | 'Bind', kind: Kind, made: Made): boolean {
    const isThere = this.stands(kind, made) && this.#hasSession(type, made, kind)
    return isThere && this.#always((facts) => !this.#lacksFactor(facts))
  }

  #isTerminatorGood(kind: Kind, made: Made): boolean {
    if (this.#fiats.has('terminators') || !this.isConnected('r2')) return false
    return this.#usedAllTheWhile('Bind', kind, made)
  }

  /** Whether both routers carry it, and the router at the other end may dial or host. */
  #isCarried(facts: Facts, type: 'Dial' | 'Bind'): boolean {
    if (!this.isConnected('r1') || !this.isConnected('r2')) return false
    const [r1, r2] = [this.#network.r1.id, this.#network.r2.id]
    const serviceId = this.#serviceId(type)
    const identity = facts.of.identities.get(this.#subject.id)
    const service = facts.of.services.get(serviceId)
    const [near, far] = type === 'Dial' ? [r1, r2] : [r2, r1]
    if (identity === undefined || service === undefined || !mayMeetAt(facts, identity, service, near)) return false
    const isTunneler = facts.of['edge-routers'].get(far)?.isTunnelerEnabled
    const isShutOut = facts.of.identities.get(far)?.disabled ?? true
    return isTunneler && !isShutOut && mayUse(facts, far, serviceId, type === 'Dial' ? 'Bind' : 'Dial')
  }

  /** Whether the subject and somebody to whom nothing happens may meet at a router. */
  #isCarriedAt(facts: Facts, type: 'Dial' | 'Bind', { routerId, partnerId }: OwnPlace): boolean {
    const serviceId = this.#serviceId(type)
    const isPartner = mayUse(facts, partnerId, serviceId, type === 'Dial' ? 'Bind' : 'Dial')
    return [this.#subject.id, partnerId].every((id) => mayMeet(facts, id, serviceId, routerId)) && isPartner
  }

  #isRouterGood(facts: Facts, router: 'r1' | 'r2'): boolean {
    const found = facts.of['edge-routers'].get(this.#network[router].id)
    return found !== undefined && !found.disabled
  }
}
