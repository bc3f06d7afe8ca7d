import { type OptionRules, requireInRange } from './arguments.ts'

/** The product whose clients a controller relaxes its strictness for. */
export type Compat = 'openziti'

/** A difference from deployed controllers that has an option of its own. */
interface Difference {
  readonly strict: boolean | number
  readonly deployed: boolean | number
  /** Both sides in the words of the table in docs/compatibility.md. */
  readonly doc: readonly [strict: string, deployed: string]
  /** The least and the greatest value of a number. */
  readonly range?: readonly [least: number, greatest: number]
}

/** A difference without effect on safety: `compat` alone decides. */
interface SilentDifference {
  readonly strict: false
  readonly deployed: true
  /** Its row in the table of docs/compatibility.md: the matter, the default, and the behaviour of deployed controllers. */
  readonly doc: readonly [matter: string, strict: string, deployed: string]
}

/**
 * The differences by which this controller is stricter than deployed controllers and which a client could notice. The type of the options,
 * the profile, the argument checks and the tables of docs/compatibility.md follow from this table.
 */
export const LENIENCIES = {
  /** Accepts a one-time code repeatedly while its time step is near. Strict: once. */
  allowTotpReuse: {
    strict: false,
    deployed: true,
    doc: ['a one-time code is accepted once', 'again while its time step is near'],
  },
  /** Takes any number of wrong codes. Strict: 429 after 10 in five minutes or 50 in a day, until they are past. */
  allowUnlimitedCodes: {
    strict: false,
    deployed: true,
    doc: ['429 after 10 wrong codes in five minutes or 50 in a day', 'any number'],
  },
  /** Takes any number of logins by password. Strict: 429 beyond the rates of `rateLimits`; a rate set by the host wins. */
  allowUnlimitedLogins: {
    strict: false,
    deployed: true,
    doc: [
      '429 after 1,200 logins a minute by username or 6,000 by address',
      'any number; `rateLimits` may still set one',
    ],
  },
  /** Allows the key sets of external JWT signers at addresses of private networks and of this machine. Strict: 400. */
  allowPrivateJwks: {
    strict: false,
    deployed: true,
    doc: [
      'no key sets from private networks or this machine',
      'from there too, but not from link-local addresses and others that deployed controllers refuse',
    ],
  },
  /** Keeps an auth policy's password rules without enforcing them. Strict: a password that breaks them is 400. */
  allowWeakPasswords: {
    strict: false,
    deployed: true,
    doc: ["an auth policy's password rules are enforced", 'they are kept and shown only'],
  },
  /** Lets an identity delete itself. Strict: 409, so that no admin locks everybody out by accident. */
  allowSelfDeletion: {
    strict: false,
    deployed: true,
    doc: ['an identity that deletes itself is answered 409', 'it is deleted'],
  },
  /**
   * As second factor, takes any token of the signer that an auth policy requires. Strict: the token must name the identity of the session.
   */
  allowTokensOfOthers: {
    strict: false,
    deployed: true,
    doc: [
      'an external token as second factor names the identity of the session',
      'any token of the required signer will do',
    ],
  },
  /** API sessions of a password survive its change. Strict: they end, including the caller's own. */
  keepSessionsOnPasswordChange: {
    strict: false,
    deployed: true,
    doc: ['the API sessions of a password end when it is changed', 'they go on'],
  },
  /** Characters of an MFA recovery code, five bits each. Strict: 10; deployed controllers have 6. */
  recoveryCodeLength: { strict: 10, deployed: 6, doc: ['characters, 50 bits', '30 bits'], range: [6, 100] },
  /**
   * Milliseconds for which a used refresh token is answered again, for the same client and certificate: the first answer may have been
   * lost. A later use ends the session. Strict: 10 seconds; deployed controllers take a minute.
   */
  refreshTokenGraceMs: {
    strict: 10_000,
    deployed: 60_000,
    doc: [
      'a refresh token that is presented again within 10 seconds is answered again; later it ends the session',
      'a minute',
    ],
    range: [0, 300_000],
  },
} as const satisfies Readonly<Record<string, Difference>>

/** Differences that `compat` alone decides; each gives a row of docs/compatibility.md. */
export const DEPLOYED_HABITS = {
  /** Takes keys of key sets without `kty` that only their certificate (`x5c`) describes. */
  allowsUntypedKeys: habit('keys of a key set with `x5c` and without `kty`', 'refused', 'accepted'),
  /** A patch of a certificate authority without its external id claim removes the claim. */
  clearsUnsentClaims: habit('a `PATCH` of a CA without `externalIdClaim`, or with null', 'leaves it', 'takes it away'),
  /** Operations answer with the success status of deployed controllers where it differs. */
  answersDeployedStatus: habit('the status of `POST /posture-response-bulk`', '200', '201'),
  /** Hashes and fingerprints of posture checks are shown as they were written, not as lower-case hex digits. */
  keepsHexAsWritten: habit(
    'hashes and fingerprints of a posture check',
    'shown as lower-case hex digits',
    'shown as written; compared alike',
  ),
  /** Too many wrong passwords disable the identity as well: no other method lets it in, and its API sessions end. */
  disablesLockedOut: habit(
    'too many wrong passwords',
    'lock the password',
    'disable the identity for as long, too, unless it is the last administrator who can log in',
  ),
  /** Service updates also move for access that came and went since the last request, and for posture reports of the endpoint. */
  tellsPassingAccess: habit(
    '`GET /current-api-session/service-updates`',
    "moves when the caller's list of services changed",
    'also for access that came and went since the last look, and for reports of the endpoint',
  ),
  /**
   * Services show, and sessions name, every policy that grants them; otherwise a single policy stands for all that demand the same posture.
   */
  namesEveryPolicy: habit(
    'the policies that grant a service, in its `postureQueries` and in sessions',
    'the policy of the lowest id among policies of one type that ask for the same posture checks; a session names the policy that carries it',
    'every policy',
  ),
  /** Empty members look as on deployed controllers: lists and configs are null, listeners of routers are absent. */
  showsEmptyAsDeployed: habit(
    'lists that nobody filled: role attributes of services and routers, configs, role lists, permissions, scopes, common routers, versions of an operating system; `config` of a service outside of the list of services; `ctrlChanListeners` of routers',
    '`[]`, `{}`',
    '`null`, where deployed controllers write it; no `ctrlChanListeners`',
  ),
  /** Edge routers are listed among transit routers as well. */
  listsEdgeRoutersAsRouters: habit(
    '`GET /transit-routers` and `GET /routers`',
    'list transit routers',
    'list edge routers, too',
  ),
  /** Requests must hold members that have a default here: `encryptionRequired` of a new service. */
  requiresDeployedMembers: habit('`POST /services` without `encryptionRequired`', '`false`', '400'),
  /** Lists below an unknown service are empty, as below any other unknown entity. Otherwise they are `NOT_FOUND`. */
  listsBelowUnknownServices: habit('the lists of the management API below a service that is not there', '404', 'empty'),
  /** Identities of the types `User`, `Device` and `Service` become `Default`; only `Default` and `Router` are listed. */
  knowsDefaultTypeAlone: habit(
    'the types `User`, `Device` and `Service` of identities',
    'kept, and listed',
    'become `Default`; that and `Router` are listed',
  ),
} as const satisfies Readonly<Record<string, SilentDifference>>

/** Options that each relax one strict behaviour. */
export type Leniency = {
  readonly [Name in keyof typeof LENIENCIES]: (typeof LENIENCIES)[Name]['strict'] extends number ? number : boolean
}

/** All behaviours that may follow deployed controllers: every option of {@link Leniency}, and the differences that `compat` decides. */
export type Profile = Leniency & { readonly [Name in keyof typeof DEPLOYED_HABITS]: boolean }

/** Rules of the options of {@link Leniency}. */
export const LENIENCY_RULES = Object.fromEntries(
  Object.entries(LENIENCIES).map(([name, { strict }]) => [name, typeof strict]),
) as OptionRules<Leniency> // Its names come from the table.

/** The profile of a controller: each option first, then `compat`, else strict. Throws for a number out of range. */
export function profileOf(options: { readonly compat?: Compat | undefined } & Partial<Leniency>): Profile {
  const side = options.compat === 'openziti' ? 'deployed' : 'strict'
  const rows: Readonly<Record<string, Difference>> = LENIENCIES
  const chosen = Object.entries(rows).map(([name, row]) => {
    const given: unknown = Reflect.get(options, name)
    const value = typeof given === typeof row.strict ? given : row[side]
    return [name, row.range === undefined ? value : requireInRange(name, Number(value), ...row.range)]
  })
  const habits = Object.entries(DEPLOYED_HABITS).map(([name, row]) => [name, row[side]])
  // Names and types come from the tables.
  return Object.fromEntries([...chosen, ...habits]) as Profile
}

function habit(matter: string, strict: string, deployed: string): SilentDifference {
  return { strict: false, deployed: true, doc: [matter, strict, deployed] }
}
