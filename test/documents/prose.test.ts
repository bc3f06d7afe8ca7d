import { describe, expect, it } from 'vitest'
import { findingsIn, passagesOfGuide, passagesOfSource } from '../../scripts/prose.ts'

const rulesIn = (text: string) => findingsIn({ place: 'here', text }).map(({ rule }) => rule)

describe('the rules of prose', () => {
  it.each([
    ['Reads a payload; undefined for what is none.', ['isNone']],
    ['Who dials hears of it.', ['clauseAsSubject']],
    ['The router waits. What was begun before is brought to its end.', ['clauseAsSubject']],
    ['The id of the request, and null for who is no administrator.', ['whoWithoutNoun']],
    ['The end of one that was dialed.', ['pronounAsHead']],
    ['A policy to which no service belongs.', ['ofWhich']],
    ['Nothing is sent before the change is told.', ['toldEvent']],
  ])('find in "%s": %j', (text, rules) => {
    expect(rulesIn(text)).toEqual(rules)
  })

  it.each([
    'The dialer hears of it.',
    'Makes a key where there is none.',
    'The host who asked is answered.',
    'Who may dial this service?',
    'Decides who may dial.',
    'One of the circuits ends.',
  ])('pass "%s"', (text) => {
    expect(rulesIn(text)).toEqual([])
  })

  it('are asked of comments and texts of sources, and not of their examples', () => {
    const source = `/**
 * The circuits
 * of a router.
 *
 * @example
 * what().is.none()
 */
export const NAMED = 'no circuit of that id'
// A remark.`
    expect(passagesOfSource('a.ts', source)).toEqual([
      { place: 'a.ts:2', text: 'The circuits of a router.' },
      { place: 'a.ts:8', text: 'no circuit of that id' },
      { place: 'a.ts:9', text: 'A remark.' },
    ])
  })

  it('are asked of the paragraphs of a guide, and not of its programs', () => {
    const guide = '# Routers\n```ts\nwhat is none\n```\n| `a` | the end |'
    expect(passagesOfGuide('a.md', guide).filter(({ text }) => text.trim() !== '')).toEqual([
      { place: 'a.md:1', text: 'Routers' },
      { place: 'a.md:5', text: 'it ' },
      { place: 'a.md:5', text: 'the end ' },
    ])
  })
})
