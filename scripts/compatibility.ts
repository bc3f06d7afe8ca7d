// Writes the tables of docs/compatibility.md, which follow from src/base/compatibility.ts: npm run compatibility.
import { readFileSync, writeFileSync } from 'node:fs'
import { DEPLOYED_HABITS, LENIENCIES } from '../src/base/compatibility.ts'

const file = new URL('../docs/compatibility.md', import.meta.url)

/** A value as code, with the thousands of a number apart. */
function shown(value: boolean | number): string {
  return `\`${String(value).replace(/(?<=\d)(?=(\d{3})+$)/g, '_')}\``
}

const options = Object.entries(LENIENCIES).map(
  ([name, { strict, deployed, doc }]) =>
    `| \`${name}\` | ${shown(strict)}: ${doc[0]} | ${shown(deployed)}: ${doc[1]} |`,
)
const habits = Object.values(DEPLOYED_HABITS).map(({ doc }) => `| ${doc.join(' | ')} |`)
const tables = [
  ["| Option | Strict default | `compat: 'openziti'` |", '|---|---|---|', ...options],
  ["| Behaviour | Default | `compat: 'openziti'` |", '|---|---|---|', ...habits],
]

const text = readFileSync(file, 'utf8')
let index = 0
writeFileSync(
  file,
  text.replace(/(?:^\|.*\n)+/gm, (table) => {
    const lines = tables[index++]
    return lines === undefined ? table : `${lines.join('\n')}\n`
  }),
)
