import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'

export type Findings = AnswerOf<PortcullisApi['GET /findings']>['data']
export type FindingKind = Findings[number]['finding']

interface FindingWords {
  /** A finding in a sentence that begins with its number: of one, and of several. */
  readonly found: readonly [one: string, several: string]
  /** The consequence of a finding, and the way out of it. */
  readonly meaning: string
  /** The text for a finding without entities. */
  readonly absent: string
  /** True for a finding that keeps people from working, now or soon. Everything else can wait. */
  readonly isUrgent?: boolean
}

export const WORDS: Readonly<Record<FindingKind, FindingWords>> = {
  'edge-routers-offline': {
    found: ['edge router is offline', 'edge routers are offline'],
    meaning: 'Nothing passes through them until they connect to the controller.',
    absent: 'every edge router is online',
    isUrgent: true,
  },
  'clock-behind': {
    found: ['clock is behind', 'clocks are behind'],
    meaning:
      'A session that another controller began is refused as not yet valid: set the clocks by one source of time.',
    absent: 'the clocks of the controllers agree',
    isUrgent: true,
  },
  'edge-router-clocks': {
    found: ['edge router has another time', 'edge routers have another time'],
    meaning:
      'They judge tokens by their own clock, and refuse new sessions while it is behind: set it by a source of time.',
    absent: 'the clocks of edge routers agree with the controller',
    isUrgent: true,
  },
  'backups-old': {
    found: ['backup is old or missing', 'backups are old or missing'],
    meaning: 'Changes since the latest are lost with the storage: see that backups are still made.',
    absent: 'the latest backup is of the last two days',
    isUrgent: true,
  },
  'authorities-ending': {
    found: ['certificate of the network ends within 30 days', 'certificates of the network end within 30 days'],
    meaning:
      'Every certificate that an authority signed ends with it, and nobody connects to a server whose certificate ended.',
    absent: 'no certificate of the network itself ends within 30 days',
    isUrgent: true,
  },
  'services-without-terminators': {
    found: ['service has no host', 'services have no host'],
    meaning: 'Every dial of them is refused: no identity that may bind them hosts them now.',
    absent: 'every service has a host',
    isUrgent: true,
  },
  'services-without-edge-routers': {
    found: ['service has no edge router', 'services have no edge router'],
    meaning: 'No service edge router policy selects them together with an edge router.',
    absent: 'every service has an edge router',
    isUrgent: true,
  },
  'certificates-ending': {
    found: ['router or CA certificate ends within 30 days', 'router and CA certificates end within 30 days'],
    meaning:
      'Trust in them ends at that instant. Connected routers renew theirs by themselves before; the others enroll anew.',
    absent: 'no certificate of a router or CA ends within 30 days',
    isUrgent: true,
  },
  'identity-certificates-ending': {
    found: ['identity certificate ends within 30 days', 'identity certificates end within 30 days'],
    meaning:
      'An identity renews its certificate when it is asked and logs in. After its end it needs a new invitation.',
    absent: 'no certificate of an identity ends within 30 days',
    isUrgent: true,
  },
  'administrators-without-second-factor': {
    found: ['administrator has no second factor', 'administrators have no second factor'],
    meaning: 'A password alone lets them in: let them enroll a second factor, and have their auth policy ask for it.',
    absent: 'every administrator with a password has a second factor',
  },
  'identities-not-seen': {
    found: ['identity was not seen for 30 days', 'identities were not seen for 30 days'],
    meaning:
      'A device that is lost, or of somebody who left, is best not let in any more. Disabled ones can be enabled again.',
    absent: 'every identity that used the network did so within 30 days',
  },
  'services-without-identities': {
    found: ['service is reached by nobody', 'services are reached by nobody'],
    meaning: 'No Dial policy selects them together with an identity.',
    absent: 'every service is reached by somebody',
  },
  'identities-without-services': {
    found: ['identity reaches nothing', 'identities reach nothing'],
    meaning: 'No service policy selects them together with a service.',
    absent: 'every identity reaches something',
  },
  'identities-without-edge-routers': {
    found: ['identity has no edge router', 'identities have no edge router'],
    meaning: 'No edge router policy selects them together with an edge router.',
    absent: 'every identity has an edge router',
    isUrgent: true,
  },
  'policies-without-effect': {
    found: ['policy selects nothing', 'policies select nothing'],
    meaning: 'One of their sides selects nothing, or both do.',
    absent: 'every policy selects something',
  },
  'policies-over': {
    found: ['policy is over', 'policies are over'],
    meaning: 'Their term has ended and they grant nothing: give them a new term or delete them.',
    absent: 'no policy is over',
  },
  'policies-unused': {
    found: ['policy was used by nobody for 30 days', 'policies were used by nobody for 30 days'],
    meaning: 'None of the identities that they select was here in that time: give them a term, or delete them.',
    absent: 'every service policy selects an identity that was here within 30 days',
  },
  'edge-routers-behind': {
    found: ['edge router runs older software', 'edge routers run older software'],
    meaning: 'Another edge router of the network runs a later version.',
    absent: 'every edge router runs the same version',
  },
  'invitations-ended': {
    found: ['invitation ran out', 'invitations ran out'],
    meaning: 'They need a new invitation before they can enroll.',
    absent: 'no invitation ran out',
  },
  'invitations-ending': {
    found: ['invitation runs out within a day', 'invitations run out within a day'],
    meaning: 'They need a new invitation unless they enroll until then.',
    absent: 'no invitation runs out within a day',
  },
}

/** The finding with a name; undefined for another text. */
export function findingNamed(name: string | null): FindingKind | undefined {
  return Object.keys(WORDS).find((one): one is FindingKind => one === name)
}
