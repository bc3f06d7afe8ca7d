import { visibleLine } from '../../../../../src/base/text.ts'
import { COLUMN_NAMES, type Light, type PathNode } from './path.ts'

const MARKS: Readonly<Record<Light, string>> = { lit: '✓', broken: '✕', dark: '·' }

/** The way from the identity to the service from above to below, for windows that are too narrow to draw it. */
export function PathList({ nodes }: { nodes: readonly PathNode[] }) {
  return (
    <section class="card" aria-label="The way from the identity to the service">
      <h2>The way</h2>
      <ol class="way-list">
        {COLUMN_NAMES.map((name, column) => {
          const stops = nodes.filter((node) => node.column === column)
          if (stops.length === 0) return null
          return (
            <li key={name}>
              <span class="muted">{name}</span>
              <ul>
                {stops.map(({ key, title, note, light, href }) => (
                  <li key={key} class={`way-stop way-stop-${light}`}>
                    <span class="way-mark" role="img" aria-label={LIGHT_WORDS[light]}>
                      {MARKS[light]}
                    </span>
                    <span>
                      {href === undefined ? visibleLine(title) : <a href={href}>{visibleLine(title)}</a>}
                      {note !== '' && <span class="muted"> {note}</span>}
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** How far the way is open, in words. */
export const LIGHT_WORDS: Readonly<Record<Light, string>> = { lit: 'open', broken: 'closed', dark: 'not reached' }
