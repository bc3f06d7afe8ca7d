// Prints the sentences of comments, messages and guides that hide their subject, each with its place and the better form:
// npm run prose [-- RULE]. `limits.json` says how many there may be of a kind.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import nlp from 'compromise/three'

const root = new URL('..', import.meta.url)

/** The kinds of sentences that hide their subject, by name: the pattern of words and parts of speech, and the better form. */
const RULES = {
  isNone: { pattern: '!there #Copula none', instead: 'say invalid, absent or unknown' },
  clauseAsSubject: { pattern: '^(who|whoever|what|whatever)', instead: 'begin with a noun of the field' },
  whoWithoutNoun: {
    pattern: '#Preposition (who|whoever)',
    instead: 'name the party: dialer, host, peer, owner, caller',
  },
  pronounAsHead: { pattern: '(one|ones|those|nobody|none) (who|that|which|whose)', instead: 'repeat the noun' },
  ofWhich: { pattern: '(of|to) which', instead: 'make it a sentence of its own, or say whose' },
  toldEvent: {
    pattern: '(event|events|change|changes|finding|findings|end|nothing|more|all) #Copula told',
    instead: 'an event is reported or sent',
  },
} as const

export type ProseRule = keyof typeof RULES

export const PROSE_RULES = Object.keys(RULES).filter((name): name is ProseRule => name in RULES)

interface Passage {
  readonly place: string
  readonly text: string
}

export interface Finding extends Passage {
  readonly rule: ProseRule
}

/** The comments of a source, a passage for each run of lines, and its texts of four words and more. */
export function passagesOfSource(path: string, source: string): readonly Passage[] {
  const passages: Passage[] = []
  let run: { readonly line: number; readonly words: string[] } | undefined
  const finish = () => {
    if (run !== undefined) passages.push({ place: `${path}:${run.line}`, text: run.words.join(' ') })
    run = undefined
  }
  let isExample = false
  for (const [index, line] of source.split('\n').entries()) {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*\/?)\s?(.*?)(?:\*\/)?\s*$/.exec(line)?.[1]
    if (comment === undefined) {
      isExample = false
      finish()
      for (const [, text = ''] of line.matchAll(/['`]([^'`]*(?: [^'`]*){3})['`]/g))
        passages.push({ place: `${path}:${index + 1}`, text })
      continue
    }
    if (comment === '' || comment.startsWith('@')) {
      finish()
      isExample = comment.startsWith('@example') || (isExample && comment === '')
    }
    if (isExample || comment === '') continue
    run ??= { line: index + 1, words: [] }
    run.words.push(comment.replace(/^@\w+\s*/, '').replaceAll(/`[^`]*`/g, 'it'))
  }
  finish()
  return passages
}

/** The paragraphs and cells of a guide without its programs. */
export function passagesOfGuide(path: string, text: string): readonly Passage[] {
  let isProgram = false
  return text.split('\n').flatMap((line, index) => {
    if (line.startsWith('```')) isProgram = !isProgram
    if (isProgram || line.startsWith('```')) return []
    const cells = line.startsWith('|') ? line.split('|') : [line]
    return cells.map((cell) => ({
      place: `${path}:${index + 1}`,
      text: cell.replaceAll(/`[^`]*`/g, 'it').replace(/^[\s#>*-]+/, ''),
    }))
  })
}

/** The sentences of a passage that a rule refuses. */
export function findingsIn({ place, text }: Passage): readonly Finding[] {
  if (!/\b(?:who|whoever|what|whatever|none|one|ones|those|nobody|which|told)\b/i.test(text)) return []
  const sentences: readonly { readonly text: string }[] = nlp(text).json({ text: true })
  return sentences.flatMap(({ text: sentence }) => {
    if (sentence.trimEnd().endsWith('?')) return []
    const parsed = nlp(sentence)
    return PROSE_RULES.filter((rule) => parsed.has(RULES[rule].pattern)).map((rule) => ({
      rule,
      place,
      text: sentence,
    }))
  })
}

/** Everything that is found in the product and its guides. */
export function proseFindings(): readonly Finding[] {
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
  const sources = globSync('{src,adapters}/**/*.{ts,tsx}', { cwd: root }).toSorted()
  const guides = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root }).toSorted()]
  return [
    ...sources.flatMap((path) => passagesOfSource(path, read(path))),
    ...guides.flatMap((path) => passagesOfGuide(path, read(path))),
  ].flatMap(findingsIn)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , only] = process.argv
  const findings = proseFindings()
  for (const rule of PROSE_RULES.filter((name) => only === undefined || name === only)) {
    const found = findings.filter((finding) => finding.rule === rule)
    console.log(`${rule}: ${found.length}: ${RULES[rule].instead}`)
    for (const { place, text } of found) console.log(`  ${place}: ${text}`)
  }
}
