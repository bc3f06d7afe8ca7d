import type { Apis } from '../api/apis.ts'
import { hrefOf, place } from '../navigation/place.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Name } from '../parts/name.tsx'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { COLLECTIONS } from './collections.ts'
import { readJson, readList } from './read-json.ts'

/** Everything that the management API lists, as it answers it. */
export function JsonView({ apis }: { apis: Apis }) {
  const { about } = place.value
  const kind = COLLECTIONS.find((name) => name === about.get('kind'))
  const id = about.get('id') ?? undefined
  return (
    <section class="json">
      <div class="bar">
        <h1>JSON</h1>
        <p class="crumbs">
          <a href={hrefOf('json')}>All kinds</a>
          {kind && (
            <>
              {' / '}
              <a href={hrefOf('json', { kind })}>{kind}</a>
            </>
          )}
          {kind && id && ` / ${id}`}
        </p>
      </div>
      <div class="json-body">
        {!kind && (
          <ul class="collections">
            {COLLECTIONS.map((name) => (
              <li key={name}>
                <a href={hrefOf('json', { kind: name })}>{name}</a>
              </li>
            ))}
          </ul>
        )}
        {kind && !id && <Collection apis={apis} kind={kind} />}
        {kind && id && <Entity apis={apis} kind={kind} id={id} />}
      </div>
    </section>
  )
}

function Collection({ apis, kind }: { apis: Apis; kind: string }) {
  const offset = Number(place.value.about.get('offset') ?? '0') || 0
  const answer = useAnswer((signal) => readList(apis, kind, offset, signal), [apis, kind, offset])
  const list = answer.data
  return (
    <>
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {list?.items.length === 0 && <p class="empty">None.</p>}
      <ul class="members" data-results>
        {list?.items.map(({ id, name }) => (
          <li key={id}>
            <a href={hrefOf('json', { kind, id })}>
              <Name of={name} />
            </a>
          </li>
        ))}
      </ul>
      {list && list.total > offset + list.items.length && (
        <a class="button" href={hrefOf('json', { kind, offset: String(offset + list.items.length) })}>
          Next of {numberText(list.total)}
        </a>
      )}
    </>
  )
}

function Entity({ apis, kind, id }: { apis: Apis; kind: string; id: string }) {
  const answer = useAnswer((signal) => readJson(apis, kind, id, signal), [apis, kind, id])
  if (answer.problem) return <p class="problem">{answer.problem}</p>
  if (answer.data === undefined) return <p class="empty">Reading…</p>
  const text = JSON.stringify(answer.data, null, 2)
  return (
    <>
      <textarea class="code json-text" aria-label={`${kind} ${id} as JSON`} readOnly spellcheck={false} value={text} />
      <CopyButton text={text} />
    </>
  )
}
