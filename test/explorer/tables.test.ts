import { ApiError } from 'portcullis/client'
import { describe, expect, it } from 'vitest'
import { doToEach, type Progress } from '../../adapters/tools/explorer/page/table/bulk.ts'
import { csvOf } from '../../adapters/tools/explorer/page/table/csv.ts'
import {
  conditionOf,
  type FilterKeys,
  problemOf,
  termsIn,
  textOf,
} from '../../adapters/tools/explorer/page/table/filter-terms.ts'

const KEYS: FilterKeys = {
  name: { label: 'Name holds', condition: (literal) => `name icontains ${literal}` },
  attr: { label: 'Role attribute', condition: (literal) => `anyOf(roleAttributes) = ${literal}` },
  online: { label: 'Online', values: ['yes', 'no'], condition: (_, value) => `online = ${value === 'yes'}` },
}

describe('the filters of a table', () => {
  it.each([
    ['', ''],
    ['anna', '(name icontains "anna")'],
    ['online:no attr:finance', '(online = false) and (anyOf(roleAttributes) = "finance")'],
    ['-attr:finance anna', '(not (anyOf(roleAttributes) = "finance")) and (name icontains "anna")'],
    ['attr:"two words"', '(anyOf(roleAttributes) = "two words")'],
    ['"attr:finance"', '(name icontains "attr:finance")'],
    ['attr:a\\', '(anyOf(roleAttributes) = "a\\\\")'],
  ])('%j asks the API for %j, and is written the same again', (text, condition) => {
    const terms = termsIn(text)
    expect(conditionOf(terms, KEYS)).toBe(condition)
    expect(termsIn(terms.map(textOf).join(' '))).toEqual(terms)
  })

  it('says which filters and values there are', () => {
    expect(termsIn('onlin:no online:maybe attr:x').map((term) => problemOf(term, KEYS))).toEqual([
      "There is no filter 'onlin': there are name, attr, online.",
      "'online' is one of yes, no.",
      undefined,
    ])
  })
})

describe('a table as a file', () => {
  it('quotes what would end a cell, and lets no program compute a text', () => {
    expect(
      csvOf([
        ['a', 'b"c', 'd,e', 'f\ng'],
        ['=1+1', '+1', '-1', '@x', '\tx', '1=1', '＝1'],
      ]),
    ).toBe(`a,"b""c","d,e","f\ng"\r\n'=1+1,'+1,'-1,'@x,'\tx,1=1,'＝1\r\n`)
  })
})

describe('an action on many', () => {
  const targets = Array.from({ length: 20 }, (_, n) => ({ id: `i${n}`, name: `n${n}`, roleAttributes: [] }))
  const run = async (act: (id: string) => Promise<void>, stop = new AbortController()) => {
    const told: Progress[] = []
    const onProgress = (progress: Progress) => told.push(progress)
    const ended = await doToEach(targets, ({ id }) => act(id), { signal: stop.signal, onProgress })
    expect(told.at(-1)).toEqual(ended)
    const all = [...ended.done, ...ended.refused.map(({ target }) => target), ...ended.open]
    expect(all.map(({ id }) => id).sort()).toEqual(targets.map(({ id }) => id).sort())
    return ended
  }

  it('goes on after a refusal, and names it', async () => {
    const ended = await run(async (id) => {
      if (id === 'i3') throw new ApiError(409, { code: 'CONFLICT', message: 'it is in use' })
    })
    expect(ended.done).toHaveLength(19)
    expect(ended.refused).toMatchObject([{ target: { id: 'i3' }, why: 'it is in use' }])
  })

  it.each([
    ['is not reached', new TypeError('failed to fetch'), 'The controller was not reached.'],
    ['is busy', new ApiError(429, { code: 'RATE_LIMITED', message: 'too many' }), 'too many'],
  ])('ends where the controller %s, and leaves the rest untried', async (_, problem, why) => {
    let asked = 0
    const ended = await run(async () => {
      asked += 1
      if (asked > 8) throw problem
    })
    expect(ended.stopped).toBe(why)
    expect(ended.done).toHaveLength(8)
    expect(ended.open).toHaveLength(12)
    expect(asked).toBeLessThanOrEqual(12)
  })

  it('may be stopped', async () => {
    const stop = new AbortController()
    const ended = await run(async (id) => {
      if (id === 'i7') stop.abort()
    }, stop)
    expect(ended.stopped).toBe('You stopped it.')
    expect(ended.open.length).toBeGreaterThan(0)
  })
})
