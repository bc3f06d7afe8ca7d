import { visibleLine } from '../../../../../src/base/text.ts'
import type { NetworkEvent } from '../events/network-event.ts'
import { EntityLink } from '../parts/entity-link.tsx'

/** An event as a sentence in which everything that has a name leads to its page. */
export function EventSentence({ event }: { event: NetworkEvent }) {
  const { text, identity, service, router, author, entity, facts } = event
  const named = [
    { kind: 'identities', of: author },
    { kind: 'identities', of: identity },
    { kind: 'services', of: service },
    { kind: 'edge-routers', of: router },
    { kind: String(facts.kind), of: entity },
  ]
  const parts: (string | { readonly kind: string; readonly id: string; readonly name: string })[] = [text]
  for (const { kind, of } of named) {
    if (!of) continue
    const shown = visibleLine(of.name ?? of.id)
    // The rest of the sentence, so that a name that contains another name stays whole.
    const place = parts.findIndex((part) => typeof part === 'string' && part.includes(shown))
    const part = parts[place]
    if (typeof part !== 'string') continue
    const at = part.lastIndexOf(shown)
    parts.splice(
      place,
      1,
      part.slice(0, at),
      { kind, id: of.id, name: of.name ?? of.id },
      part.slice(at + shown.length),
    )
  }
  return (
    <>
      {parts.map((part, place) =>
        typeof part === 'string' ? part : <EntityLink key={`${part.kind} ${place}`} {...part} />,
      )}
    </>
  )
}
