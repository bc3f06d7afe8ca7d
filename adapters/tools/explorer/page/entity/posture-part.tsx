import { visibleLine } from '../../../../../src/base/text.ts'
import type { Apis } from '../api/apis.ts'
import { isOfIdentity } from '../events/network-event.ts'
import { Loaded } from '../parts/loaded.tsx'
import { timeText } from '../parts/time-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { Part } from './entity-page.tsx'

/** The state that endpoints of an identity reported, and how old each report is. */
export function PosturePart({ apis, id }: { apis: Apis; id: string }) {
  const answer = useAnswer(
    async (signal) =>
      (await apis.management.call('GET /identities/{id}/posture-data', { params: { id }, signal })).data,
    [apis, id],
    isOfIdentity(id),
  )
  return (
    <Part title="Posture as reported">
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
                  {value} {at && <span class="muted">{timeText(at)}</span>}
                </dd>
              </>
            ))}
          </dl>
        )}
      </Loaded>
    </Part>
  )
}

interface Report {
  readonly name: string
  readonly value: string
  readonly at: string | undefined
}

/** The reported parts, each in one line: the shape of a report depends on its type. */
function reportsOf(data: object): readonly Report[] {
  return Object.entries(data).flatMap(([name, value]: [string, unknown]): Report[] => {
    const isEmpty = value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
    if (isEmpty) return []
    const at: unknown = typeof value === 'object' ? Reflect.get(Object(value), 'lastUpdatedAt') : undefined
    const text = visibleLine(JSON.stringify(value)).slice(0, 200)
    return [{ name, value: text, at: typeof at === 'string' ? at : undefined }]
  })
}
