import { useEffect, useState } from 'preact/hooks'
import { hrefOf, place } from '../navigation/place.ts'
import { announce } from '../parts/action.tsx'
import { Card, Count } from '../parts/card.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Names } from '../parts/entity-link.tsx'
import { distinct, foldPairs, type Pair } from '../parts/fold.ts'
import { PlainTable } from '../parts/plain-table.tsx'
import { useAnswer, useSettled } from '../parts/use-answer.ts'
import { countedName, numberText } from '../parts/words.ts'
import { mayRead, useApis } from '../session/session.ts'
import { Apply, type Made, madeText } from './apply.tsx'
import { type Change, simulated } from './change.ts'
import { CopyAs } from './copy-as.tsx'
import { linkOf } from './draft-link.ts'

/** Shows the gains and losses of the changes, and the ways to use them. */
export function Outcome({ changes }: { changes: readonly Change[] }) {
  const apis = useApis()
  const tried = useSettled(changes)
  const [cursor, setCursor] = useState<string>()
  const [earlier, setEarlier] = useState<readonly Pair[]>([])
  const [counts, setCounts] = useState<Counts | null>(null)
  const [made, setMade] = useState<Made>()
  const mayExplain = mayRead('posture-check') && mayRead('router')
  const asked = JSON.stringify(tried.flatMap(simulated))
  useEffect(() => {
    setCursor(undefined)
    setEarlier([])
  }, [asked])
  // New changes have not been applied yet: the notice of the last ones goes.
  useEffect(() => {
    if (changes.length > 0) setMade(undefined)
  }, [changes.length])
  const answer = useAnswer(
    async (signal) => {
      if (tried.length === 0) return undefined
      const body = { changes: tried.flatMap(simulated), obstacles: mayExplain, ...(cursor && { cursor }) }
      const { data } = await apis.portcullis.call('POST /simulate', { body, signal })
      if (data.counts) {
        setCounts(data.counts)
        announce(spoken(data.counts))
      }
      return data
    },
    [apis, asked, cursor],
  )
  if (changes.length === 0) {
    return (
      <Card title="Gained and lost">
        {made && (
          <p class="note">
            ✓ {madeText(made)}{' '}
            {made.open.length > 0 && (
              <>
                Open <Names of={made.open} />.{' '}
              </>
            )}
            <a href={hrefOf('changes', { of: 'access' })}>See what was changed</a>.
          </p>
        )}
        <p class="empty">
          Choose something to change: who would gain access and who would lose it appears here while you edit.
        </p>
      </Card>
    )
  }
  const page = answer.data ?? (cursor === undefined ? answer.earlier : undefined)
  const pairs = [...earlier, ...(page?.pairs ?? [])]
  const works = pairs.length === 0 || pairs.some(({ change, obstacle }) => change === 'gained' && !obstacle)
  const more = () => {
    if (!page?.nextCursor) return
    setEarlier([...earlier, ...page.pairs])
    setCursor(page.nextCursor)
  }
  return (
    <section class="card outcome" aria-busy={answer.isLoading}>
      <h2>Gained and lost</h2>
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {counts && (page || earlier.length > 0) && !answer.problem && (
        <>
          <dl class="counts">
            <Difference label="gain Dial" count={counts.dial.gained} tone={works ? 'good' : 'warn'} sign="+" />
            <Difference label="lose Dial" count={counts.dial.lost} tone="bad" sign="−" />
            <Difference label="gain Bind" count={counts.bind.gained} tone={works ? 'good' : 'warn'} sign="+" />
            <Difference label="lose Bind" count={counts.bind.lost} tone="bad" sign="−" />
          </dl>
          <p class="muted">{summaryOf(pairs, counts)}</p>
          <Pairs pairs={pairs} />
          {page?.nextCursor && (
            <button type="button" onClick={more} disabled={answer.isLoading}>
              Show more
            </button>
          )}
        </>
      )}
      <div class="actions">
        <Apply changes={changes} onMade={setMade} />
        <CopyAs changes={changes} />
        {linkOf(changes) === undefined ? (
          <p class="muted">The draft is too long for a link; a model file holds it whole.</p>
        ) : (
          <CopyButton
            text={
              new URL(
                hrefOf('what-if', { ...Object.fromEntries(place.value.about), draft: linkOf(changes) }),
                location.href,
              ).href
            }
            label="Copy link"
          />
        )}
      </div>
    </section>
  )
}

interface Counts {
  readonly dial: { readonly gained: number; readonly lost: number }
  readonly bind: { readonly gained: number; readonly lost: number }
}

/** The identities and services behind the numbers, and what of it would connect; of the first pairs where there are more. */
function summaryOf(pairs: readonly Pair[], { dial, bind }: Counts): string {
  if (pairs.length === 0) return ''
  const all = dial.gained + dial.lost + bind.gained + bind.lost
  const sides = (['identity', 'service'] as const).map((side) => distinct(pairs, side).length)
  const [people = 0, things = 0] = sides
  const whom = `${countedName('identities', people)}, ${countedName('services', things)}`
  const works = worksText(pairs)
  const start = pairs.length < all ? `Of the first ${numberText(pairs.length)}: ${whom}` : whom
  return `${start}${works && `; of what is gained ${works}`}.`
}

function Difference({ label, count, tone, sign }: { label: string; count: number; tone: string; sign: string }) {
  return (
    <Count label={label} tone={count === 0 ? '' : `count-${tone}`}>
      {count === 0 ? '0' : `${sign}${numberText(count)}`}
    </Count>
  )
}

function spoken({ dial, bind }: Counts): string {
  return `Dial: ${dial.gained} gained, ${dial.lost} lost. Bind: ${bind.gained} gained, ${bind.lost} lost.`
}

/** The identities and services that would gain or lose access; those with the same change are one row. */
export function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  if (pairs.length === 0) return <p class="empty">Nobody would gain or lose anything.</p>
  return (
    <PlainTable
      class="pairs stacks"
      rows={foldPairs(pairs)}
      keyOf={({ key }) => key}
      columns={[
        {
          title: 'Change',
          as: 'narrow',
          cell: ({ type, change, obstacle }) => (
            <>
              <span class={change === 'lost' ? 'loss' : obstacle ? 'doubt' : 'gain'}>
                {change === 'gained' ? '+' : '−'} {type}
              </span>
              {obstacle && <span class="muted obstacle">{obstacleText(obstacle)}</span>}
            </>
          ),
        },
        { title: 'Identity', cell: ({ identities }) => <Names kind="identities" of={identities} /> },
        { title: 'Service', cell: ({ services }) => <Names kind="services" of={services} /> },
        {
          title: 'Why',
          as: 'narrow',
          isUnseen: true,
          cell: ({ identities, services, type }) => (
            <a href={hrefOf('why', { identity: identities[0]?.id, service: services[0]?.id, type })}>why now</a>
          ),
        },
      ]}
    />
  )
}

const OBSTACLES: Readonly<Record<string, string>> = {
  'identity-disabled': 'for a disabled identity',
  'posture-failing': 'if posture passes',
  'no-terminators': 'without a host',
  'all-common-edge-routers-offline': 'with all edge routers offline',
}

/** The obstacle of a gained pair in a few words. */
function obstacleText(obstacle: string): string {
  return OBSTACLES[obstacle] ?? 'without an edge router'
}

/** How many of the gained pairs would connect, in words: `1 would connect now, 2 if posture passes`. Empty where that is not known. */
function worksText(pairs: readonly Pair[]): string {
  const gained = pairs.filter(({ change, obstacle }) => change === 'gained' && obstacle !== undefined)
  const counts = Map.groupBy(gained, ({ obstacle }) => (obstacle ? obstacleText(obstacle) : 'would connect now'))
  return [...counts].map(([words, of]) => `${numberText(of.length)} ${words}`).join(', ')
}
