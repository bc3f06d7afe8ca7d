import { useEffect, useRef, useState } from 'preact/hooks'
import { Difference } from '../changes/consequences.tsx'
import { announce } from '../parts/action.tsx'
import type { Chip } from '../parts/chip.ts'
import { ChipsField } from '../parts/chips-field.tsx'
import { Name, Names } from '../parts/entity-link.tsx'
import { TextInput } from '../parts/fields.tsx'
import { countedName, numberText } from '../parts/words.ts'
import { session, useApis } from '../session/session.ts'
import { doToEach, type Progress, type Target } from './bulk.ts'
import { actOn, type BulkAction, triedBy } from './bulk-actions.ts'

/** The most changes that are tried together. */
const MOST_TRIED = 500

interface Props {
  readonly kind: string
  readonly action: BulkAction
  readonly targets: readonly Target[]
  /** Called with the entities that are as they were. */
  readonly onClose: (left: readonly Target[]) => void
}

/** Asks before something is done to many entities, shows how far it is, and afterwards what was refused. */
export function BulkDialog({ kind, action, targets, onClose }: Props) {
  const apis = useApis()
  const dialog = useRef<HTMLDialogElement>(null)
  const [chips, setChips] = useState<readonly Chip[]>([])
  const [texts, setTexts] = useState<readonly string[]>(action.fields?.map(() => '') ?? [])
  const [progress, setProgress] = useState<Progress>()
  const [isRunning, setRunning] = useState(false)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => {
    dialog.current?.showModal()
    // A key that is pressed once too often must not take away something that is hard to get back.
    if (action.isHarm) dialog.current?.querySelector<HTMLElement>('.decline')?.focus()
    return () => stop.current?.abort()
  }, [])
  const isOfAttributes = action.member === 'roleAttributes'
  const named = isOfAttributes ? chips.map(({ value }) => value) : texts
  const left = progress ? [...progress.refused.map(({ target }) => target), ...progress.open] : targets
  const run = async () => {
    const controller = new AbortController()
    stop.current = controller
    setRunning(true)
    const earlier = progress?.done ?? []
    const ended = await doToEach(left, (target) => actOn(action, apis, kind, target.id, named), {
      signal: controller.signal,
      onProgress: (now) => setProgress({ ...now, done: [...earlier, ...now.done] }),
    })
    setRunning(false)
    announce(sumText(action, { ...ended, done: [...earlier, ...ended.done] }))
  }
  const close = () => !isRunning && onClose(left)
  const what = countedName(kind, targets.length)
  const tried = triedBy(action, kind, targets, named)
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-label={`${action.label}: ${what}`}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <h2>
        {action.label}: {what}
      </h2>
      <p class="listed">
        <Names kind={kind} of={targets} />
      </p>
      {progress === undefined && (
        <>
          {isOfAttributes && (
            <ChipsField label="Role attributes" chips={chips} kind={kind} of="attributes" onChange={setChips} />
          )}
          {action.fields && (
            <div class="row">
              {action.fields.map((label, at) => (
                <TextInput
                  key={label}
                  label={label}
                  value={texts[at]}
                  onChange={(text) => setTexts(texts.with(at, text))}
                />
              ))}
            </div>
          )}
          {action.warning && <p>{action.warning(kind)}</p>}
          {action.isHarm && targets.some(({ id }) => id === session.value?.id) && (
            <p class="problem">You are among them.</p>
          )}
          {tried && (
            <section aria-label="Access that changes by it">
              <h3>Access that changes by it</h3>
              {tried.length <= MOST_TRIED ? (
                <Difference changes={tried} />
              ) : (
                <p class="muted">It is worked out for {numberText(MOST_TRIED)} at most.</p>
              )}
            </section>
          )}
        </>
      )}
      {progress && (
        <>
          <p role="status">
            {isRunning
              ? `${numberText(targets.length - left.length)} of ${numberText(targets.length)} ${action.done}…`
              : sumText(action, progress)}
          </p>
          <progress max={targets.length} value={targets.length - progress.open.length} aria-label="How far it is" />
          {progress.refused.length > 0 && (
            <ul class="plain refusals" aria-label="Refused">
              {progress.refused.map(({ target, why }) => (
                <li key={target.id}>
                  <strong>
                    <Name of={target.name} />
                  </strong>{' '}
                  <span class="loss">{why}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <div class="actions">
        {isRunning ? (
          <button type="button" onClick={() => stop.current?.abort()}>
            Stop
          </button>
        ) : (
          <>
            {left.length > 0 && (
              <button
                type="button"
                class={action.isHarm ? 'danger' : 'primary'}
                disabled={isOfAttributes ? named.length === 0 : texts[0]?.trim() === ''}
                onClick={() => void run()}
              >
                {progress ? `Try the other ${numberText(left.length)} again` : `Yes, ${action.label.toLowerCase()}`}
              </button>
            )}
            <button type="button" class="decline" onClick={close}>
              {progress ? 'Close' : 'No'}
            </button>
          </>
        )}
      </div>
    </dialog>
  )
}

function sumText({ done }: BulkAction, { done: some, refused, open, stopped }: Progress): string {
  const parts = [
    `${numberText(some.length)} ${done}`,
    ...(refused.length > 0 ? [`${numberText(refused.length)} refused`] : []),
    ...(open.length > 0 ? [`${numberText(open.length)} not tried`] : []),
  ]
  return `${parts.join(', ')}.${stopped ? ` ${stopped}` : ''}`
}
