import { useEffect, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { announce } from '../parts/announcements.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useSettled } from '../parts/use-settled.ts'
import { Apply, madeText } from './apply.tsx'
import { type Change, simulated } from './change.ts'
import { CopyAs } from './copy-as.tsx'
import { linkOf } from './draft-link.ts'
import { type Pair, Pairs } from './pairs.tsx'

/** Shows the gains and losses of the changes, and the ways to use them. */
export function Outcome({ apis, changes }: { apis: Apis; changes: readonly Change[] }) {
  const tried = useSettled(changes)
  const [cursor, setCursor] = useState<string>()
  const [earlier, setEarlier] = useState<readonly Pair[]>([])
  const [counts, setCounts] = useState<Counts | null>(null)
  const [written, setWritten] = useState<number>()
  const asked = JSON.stringify(tried.flatMap(simulated))
  useEffect(() => {
    setCursor(undefined)
    setEarlier([])
  }, [asked])
  // New changes have not been applied yet: the notice of the last ones goes.
  useEffect(() => {
    if (changes.length > 0) setWritten(undefined)
  }, [changes.length])
  const answer = useAnswer(
    async (signal) => {
      if (tried.length === 0) return undefined
      const body = { changes: tried.flatMap(simulated), ...(cursor && { cursor }) }
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
      <section class="card">
        <h2>Gained and lost</h2>
        {written !== undefined && (
          <p class="note">
            ✓ {madeText(written)} <a href={hrefOf('changes', { of: 'access' })}>See what was changed</a>.
          </p>
        )}
        <p class="empty">
          Choose something to change: who would gain access and who would lose it appears here while you edit.
        </p>
      </section>
    )
  }
  const page = answer.data ?? (cursor === undefined ? answer.earlier : undefined)
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
            <Count label="gain Dial" count={counts.dial.gained} tone="good" sign="+" />
            <Count label="lose Dial" count={counts.dial.lost} tone="bad" sign="−" />
            <Count label="gain Bind" count={counts.bind.gained} tone="good" sign="+" />
            <Count label="lose Bind" count={counts.bind.lost} tone="bad" sign="−" />
          </dl>
          <Pairs pairs={[...earlier, ...(page?.pairs ?? [])]} />
          {page?.nextCursor && (
            <button type="button" onClick={more} disabled={answer.isLoading}>
              Show more
            </button>
          )}
        </>
      )}
      <div class="actions">
        <Apply apis={apis} changes={changes} onMade={setWritten} />
        <CopyAs apis={apis} changes={changes} />
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

function Count({ label, count, tone, sign }: { label: string; count: number; tone: string; sign: string }) {
  return (
    <div class={`count ${count === 0 ? '' : `count-${tone}`}`}>
      <dt>{label}</dt>
      <dd>{count === 0 ? '0' : `${sign}${numberText(count)}`}</dd>
    </div>
  )
}

function spoken({ dial, bind }: Counts): string {
  return `Dial: ${dial.gained} gained, ${dial.lost} lost. Bind: ${bind.gained} gained, ${bind.lost} lost.`
}
