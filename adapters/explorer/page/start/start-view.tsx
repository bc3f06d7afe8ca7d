import type { AnswerOf, PortcullisApi } from '../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { EntityLink } from '../parts/entity-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { Recent } from './recent.tsx'

type Findings = AnswerOf<PortcullisApi['GET /findings']>['data']
type FindingKind = Findings[number]['finding']

/** A finding in a sentence that begins with its number. */
const WORDS: Readonly<Record<FindingKind, string>> = {
  'edge-routers-offline': 'edge routers are offline',
  'services-without-terminators': 'services have no host',
  'services-without-edge-routers': 'services have no edge router',
  'services-without-identities': 'services are reached by nobody',
  'identities-without-services': 'identities reach nothing',
  'identities-without-edge-routers': 'identities have no edge router',
  'policies-without-effect': 'policies select nothing',
  'invitations-ended': 'invitations ran out',
  'invitations-ending': 'invitations run out within a day',
}

/** The first view: what an operator needs first, each as a number that leads to a list. */
export function StartView({ apis }: { apis: Apis }) {
  const finding = place.value.about.get('finding')
  const kind = Object.keys(WORDS).find((one): one is FindingKind => one === finding)
  return kind === undefined ? <Overview apis={apis} /> : <FindingList key={kind} apis={apis} kind={kind} />
}

function Overview({ apis }: { apis: Apis }) {
  const answer = useAnswer(async (signal) => (await apis.portcullis.call('GET /findings', { signal })).data, [apis])
  return (
    <section class="reading">
      <div class="bar">
        <h1>Overview</h1>
        <p class="muted">Type / to find anything by name.</p>
      </div>
      <Recent apis={apis} />
      <Loaded answer={answer} isEmpty={(data) => data.length === 0} empty="You may not see what this is made of.">
        {(data) => (
          <ul class="findings" aria-label="Findings">
            {data.map(({ finding: one, count, entities }) => (
              <li key={one} class={count === 0 ? 'is-none' : undefined}>
                {count === 0 ? (
                  <p>
                    <strong>0</strong> {WORDS[one]}
                  </p>
                ) : (
                  <a href={hrefOf('start', { finding: one })}>
                    <strong>{numberText(count)}</strong> {WORDS[one]}
                  </a>
                )}
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
        )}
      </Loaded>
    </section>
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
  )
  return (
    <section class="reading">
      <div class="bar">
        <h1>
          {answer.data && numberText(answer.data.count)} {WORDS[kind]}
        </h1>
        <a href={hrefOf('start')}>Overview</a>
      </div>
      <Loaded answer={answer}>
        {(data) => (
          <>
            <ul class="members">
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
          </>
        )}
      </Loaded>
    </section>
  )
}
