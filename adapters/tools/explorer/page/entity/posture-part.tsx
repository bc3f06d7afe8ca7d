import { isOfIdentity } from '../events/network-event.ts'
import { Card } from '../parts/card.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { timeText, valueText, wordsOf } from '../parts/words.ts'
import { useApis } from '../session/session.ts'

/** The state that endpoints of an identity reported, and how old each report is. */
export function PosturePart({ id }: { id: string }) {
  const apis = useApis()
  const answer = useAnswer(
    async (signal) =>
      (await apis.management.call('GET /identities/{id}/posture-data', { params: { id }, signal })).data,
    [apis, id],
    isOfIdentity(id),
  )
  return (
    <Card title="Posture as reported">
      <Loaded
        answer={answer}
        isEmpty={(data) => reportsOf(data).length === 0}
        empty="Nothing was reported: checks that ask for something fail."
      >
        {(data) => (
          <dl class="facts">
            {reportsOf(data).map(({ name, value, at }) => (
              <>
                <dt>{name}</dt>
                <dd>
                  {value} <span class="muted">{timeText(at)}</span>
                </dd>
              </>
            ))}
          </dl>
        )}
      </Loaded>
    </Card>
  )
}

interface Report {
  readonly name: string
  readonly value: string
  readonly at: string
}

/** Members that say of a report what its instant says too. */
const NOT_REPORTED = new Set(['lastUpdatedAt', 'postureCheckId', 'timedOut'])

/** The reported parts, each in one line: the shape of a report depends on its type. A part without an instant was never reported. */
function reportsOf(data: object): readonly Report[] {
  return Object.entries(data).flatMap(([name, part]: [string, unknown]) =>
    [part].flat().flatMap((value: unknown): Report[] => {
      if (typeof value !== 'object' || value === null) return []
      const at: unknown = Reflect.get(value, 'lastUpdatedAt')
      if (typeof at !== 'string') return []
      const members = Object.entries(value).filter(
        ([member, one]) => !NOT_REPORTED.has(member) && one !== null && one !== '',
      )
      return [{ name: wordsOf(name), value: valueText(name, Object.fromEntries(members)), at }]
    }),
  )
}
