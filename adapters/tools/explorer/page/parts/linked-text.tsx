import { quoted } from '../../../../../src/base/text.ts'
import { EntityLink } from './entity-link.tsx'
import { Time } from './time.tsx'

/** An entity that a sentence may name. */
export interface Named {
  readonly kind: string
  readonly id: string
  readonly name: string
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** A sentence of the controller: the names of entities lead to their pages, and instants are in the words of the reader. */
export function LinkedText({ text, entities }: { text: string; entities: readonly Named[] }) {
  const known = Map.groupBy(entities, ({ name }) => quoted(name))
  const names = [...known.keys()].sort((a, b) => b.length - a.length).map(literally)
  const parts = text.split(new RegExp(`(${[...names, INSTANT.source.slice(1, -1)].join('|')})`))
  return (
    <>
      {parts.map((part, place) => {
        // An identity and a service may have one name.
        const [entity, other] = known.get(part) ?? []
        const key = `${place} ${part}`
        if (INSTANT.test(part)) return <Time key={key} at={part} />
        if (entity === undefined || (other && other.id !== entity.id)) return part
        return (
          <span key={key}>
            '<EntityLink {...entity} />'
          </span>
        )
      })}
    </>
  )
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
