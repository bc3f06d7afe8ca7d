import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { isOfAny, isOfKind, isOfNetwork } from '../events/network-event.ts'
import { MapPreview } from '../map/map-preview.tsx'
import { hrefOf, place } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useIsNarrow } from '../parts/use-narrow.ts'
import { OpenRequests } from '../requests/open-requests.tsx'
import { Recent } from './recent.tsx'

type Findings = AnswerOf<PortcullisApi['GET /findings']>['data']
type FindingKind = Findings[number]['finding']

/** A finding in a sentence that begins with its number: of one, and of several. */
const WORDS: Readonly<Record<FindingKind, readonly [one: string, several: string]>> = {
  'edge-routers-offline': ['edge router is offline', 'edge routers are offline'],
  'services-without-terminators': ['service has no host', 'services have no host'],
  'services-without-edge-routers': ['service has no edge router', 'services have no edge router'],
  'certificates-ending': ['certificate ends within 30 days', 'certificates end within 30 days'],
  'administrators-without-second-factor': [
    'administrator has no second factor',
    'administrators have no second factor',
  ],
  'services-without-identities': ['service is reached by nobody', 'services are reached by nobody'],
  'identities-without-services': ['identity reaches nothing', 'identities reach nothing'],
  'identities-without-edge-routers': ['identity has no edge router', 'identities have no edge router'],
  'policies-without-effect': ['policy selects nothing', 'policies select nothing'],
  'policies-over': ['policy is over', 'policies are over'],
  'edge-routers-behind': ['edge router runs older software', 'edge routers run older software'],
  'invitations-ended': ['invitation ran out', 'invitations ran out'],
  'invitations-ending': ['invitation runs out within a day', 'invitations run out within a day'],
}

/** The consequence of a finding, and the way out of it. */
const MEANING: Readonly<Record<FindingKind, string>> = {
  'edge-routers-offline': 'Nothing passes through them until they connect to the controller.',
  'services-without-terminators': 'Every dial of them is refused: no identity that may bind them hosts them now.',
  'services-without-edge-routers': 'No service edge router policy selects them together with an edge router.',
  'certificates-ending': 'Routers and certificate authorities: what they vouch for ends with them. Renew them before.',
  'administrators-without-second-factor': 'A password alone lets them in: let them enroll a second factor.',
  'services-without-identities': 'No Dial policy selects them together with an identity.',
  'identities-without-services': 'No service policy selects them together with a service.',
  'identities-without-edge-routers': 'No edge router policy selects them together with an edge router.',
  'policies-without-effect': 'One of their sides selects nothing, or both do.',
  'policies-over': 'Their term has ended and they grant nothing: give them a new term or delete them.',
  'edge-routers-behind': 'Another edge router of the network runs a later version.',
  'invitations-ended': 'They need a new invitation before they can enroll.',
  'invitations-ending': 'They need a new invitation unless they enroll until then.',
}

/** The text for a finding without entities. */
const ABSENT: Readonly<Record<FindingKind, string>> = {
  'edge-routers-offline': 'every edge router is online',
  'services-without-terminators': 'every service has a host',
  'services-without-edge-routers': 'every service has an edge router',
  'certificates-ending': 'no certificate of a router or an authority ends within 30 days',
  'administrators-without-second-factor': 'every administrator with a password has a second factor',
  'services-without-identities': 'every service is reached by somebody',
  'identities-without-services': 'every identity reaches something',
  'identities-without-edge-routers': 'every identity has an edge router',
  'policies-without-effect': 'every policy selects something',
  'policies-over': 'no policy is over',
  'edge-routers-behind': 'every edge router runs the same version',
  'invitations-ended': 'no invitation ran out',
  'invitations-ending': 'no invitation runs out within a day',
}

/** The first view: numbers that lead to lists. */
export function StartView({ apis }: { apis: Apis }) {
  const finding = place.value.about.get('finding')
  const kind = Object.keys(WORDS).find((one): one is FindingKind => one === finding)
  return kind === undefined ? <Overview apis={apis} /> : <FindingList key={kind} apis={apis} kind={kind} />
}

/** The findings that keep people from working now. Everything else can wait. */
const URGENT: ReadonlySet<FindingKind> = new Set<FindingKind>([
  'edge-routers-offline',
  'services-without-terminators',
  'services-without-edge-routers',
  'identities-without-edge-routers',
  'certificates-ending',
])

/** A service without a host has no terminator. */
const FINDINGS_MAY_CHANGE = isOfAny(isOfNetwork, isOfKind('terminators'))

function Overview({ apis }: { apis: Apis }) {
  const answer = useAnswer(
    async (signal) => (await apis.portcullis.call('GET /findings', { signal })).data,
    [apis],
    FINDINGS_MAY_CHANGE,
  )
  const isNarrow = useIsNarrow()
  return (
    <section class="reading">
      <div class="bar">
        <h1>Overview</h1>
        {!isNarrow && (
          <p class="muted">
            Type <kbd>/</kbd> to find anything by name.
          </p>
        )}
      </div>
      <OpenRequests apis={apis} />
      <Recent apis={apis} />
      <Loaded answer={answer} isEmpty={(data) => data.length === 0} empty="You may not see what this is made of.">
        {(data) => <Findings findings={data} />}
      </Loaded>
      {!isNarrow && <MapPreview apis={apis} />}
    </section>
  )
}

function Findings({ findings }: { findings: Findings }) {
  const found = findings.filter(({ count }) => count > 0)
  const others = findings.filter(({ count }) => count === 0)
  return (
    <>
      <ul class="findings" aria-label="Findings">
        {found.map(({ finding: one, count, entities }) => (
          <li key={one} class={URGENT.has(one) ? 'is-urgent' : undefined}>
            <a href={hrefOf('start', { finding: one })}>
              <strong>{numberText(count)}</strong> {WORDS[one][count === 1 ? 0 : 1]}
            </a>
            <p class="muted">
              {entities.slice(0, 3).map((entity, position) => (
                <span key={entity.id}>
                  {position > 0 && ', '}
                  <EntityLink {...entity} />
                </span>
              ))}
            </p>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p class="muted all-well">
          <span aria-hidden="true">✓</span> All well: {others.map(({ finding: one }) => ABSENT[one]).join(', ')}.
        </p>
      )}
    </>
  )
}

function FindingList({ apis, kind }: { apis: Apis; kind: FindingKind }) {
  const cursor = place.value.about.get('after') ?? undefined
  const answer = useAnswer(
    async (signal) => {
      const query = { finding: kind, limit: '100', ...(cursor !== undefined && { cursor }) }
      return (await apis.portcullis.call('GET /findings', { query, signal })).data[0]
    },
    [apis, kind, cursor],
    FINDINGS_MAY_CHANGE,
  )
  return (
    <section class="reading">
      <div class="bar">
        <h1>
          {answer.data && numberText(answer.data.count)} {WORDS[kind][answer.data?.count === 1 ? 0 : 1]}
        </h1>
        <a href={hrefOf('start')}>Overview</a>
      </div>
      <Loaded answer={answer}>
        {(data) => (
          <div class="card">
            <p class="muted">{MEANING[kind]}</p>
            <ul class="members in-columns">
              {data?.entities.map((entity) => (
                <li key={entity.id}>
                  <EntityLink {...entity} />
                </li>
              ))}
            </ul>
            {data?.nextCursor && (
              <a class="button" href={hrefOf('start', { finding: kind, after: data.nextCursor })}>
                Next
              </a>
            )}
          </div>
        )}
      </Loaded>
    </section>
  )
}
