import { ids, matches, parseQuery } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { RECORDS, SYMBOLS } from './gadgets.ts'

/** The ids of the gadgets that fulfil a filter, in one word each. */
function found(text: string): string {
  const { where = { kind: 'all' } } = parseQuery(text, SYMBOLS)
  return RECORDS.filter((record) => matches(where, record))
    .map(({ id }) => id)
    .join(' ')
}

describe('strings', () => {
  it.each([
    ['name = "Straße 7"', 'full'],
    ['name = "straße 7"', ''],
    ['name != "null"', 'full empty'],
    ['name < "b"', 'full empty'],
    ['name >= "Straße 7"', 'full nulls'],
    ['name > "Straße 7"', 'nulls'],
    ['name <= ""', 'empty'],
    ['name contains "traß"', 'full'],
    ['name contains "TRAß"', ''],
    ['name contains ""', 'full nulls empty'],
    ['name contains 7', 'full'],
    ['name icontains "STRAß"', 'full'],
    ['name icontains "NULL"', 'nulls'],
    ['name not icontains "NULL"', 'full empty'],
    ['name in ["null", ""]', 'nulls empty'],
    ['name not in ["null", ""]', 'full'],
  ])('%s finds: %s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })
})

describe('numbers, booleans and instants', () => {
  it.each([
    ['cost = 5', 'full'],
    ['cost = 5.0', 'full'],
    ['cost < 5.5', 'full empty'],
    ['cost >= 5', 'full'],
    ['cost <= 0', 'empty'],
    ['load > 1', 'full'],
    ['cost in [0, 5]', 'full empty'],
    ['cost in ["5", "x"]', 'full'],
    ['cost in ["05", "5.0", "Infinity", ""]', ''],
    ['cost not in ["5"]', 'nulls empty'],
    ['load in ["1.5"]', 'full'],
    ['count(roleAttributes) in ["2"]', 'full'],
    ['cost between 0 and 5', 'empty'],
    ['cost between 5 and 6', 'full'],
    ['cost between 6 and 5', ''],
    ['load contains ".5"', 'full'],
    ['cost contains 5', 'full'],
    ['isAdmin', 'full'],
    ['isAdmin = true', 'full'],
    ['isAdmin = false', 'empty'],
    ['isAdmin != true', 'nulls empty'],
    ['createdAt = datetime(2024-05-01T14:00:00+02:00)', 'full'],
    ['createdAt < datetime(1970-01-01T00:00:00.001Z)', 'empty'],
    ['createdAt between datetime(1970-01-01T00:00:00Z) and datetime(2024-05-01T12:00:00Z)', 'empty'],
    ['primary.cert.allowed', 'full'],
    ['not primary.cert.allowed', 'nulls empty'],
    ['primary.updb.maxAttempts < 3', 'empty'],
  ])('%s finds: %s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })
})

describe('null differs from every value and is in no range; absent is null', () => {
  it.each([
    ['type = null', 'nulls'],
    ['type != null', 'full empty'],
    ['createdAt = null', 'nulls'],
    ['cost = 0', 'empty'],
    ['cost != 0', 'full nulls'],
    ['cost < 100', 'full empty'],
    ['cost > -100', 'full empty'],
    ['cost between -100 and 100', 'full empty'],
    ['cost not between -100 and 100', 'nulls'],
    ['type = "null"', ''],
    ['type >= ""', 'full empty'],
    ['type in ["Device"]', 'full'],
    ['type not in ["Device"]', 'nulls empty'],
    ['type contains ""', 'full empty'],
    ['type not contains "Dev"', 'nulls empty'],
    ['type not icontains "DEV"', 'nulls empty'],
    ['cost not contains 5', 'nulls empty'],
    ['isAdmin', 'full'],
    ['not isAdmin', 'nulls empty'],
    ['isAdmin != false', 'full nulls'],
  ])('%s finds: %s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })
})

describe('sets; an absent one is empty', () => {
  it.each([
    ['anyOf(roleAttributes) = "red"', 'full'],
    ['anyOf(roleAttributes) != "red"', 'full'],
    ['anyOf(roleAttributes) != "blue"', 'full'],
    ['not anyOf(roleAttributes) = "red"', 'nulls empty'],
    ['allOf(roleAttributes) = "red"', 'nulls empty'],
    ['allOf(roleAttributes) != "green"', 'full nulls empty'],
    ['allOf(roleAttributes) in ["red", "blue"]', 'full nulls empty'],
    ['anyOf(roleAttributes) in ["red", "green"]', 'full'],
    ['anyOf(roleAttributes) not in ["red", "green"]', 'nulls empty'],
    ['anyOf(roleAttributes) contains "e"', 'full'],
    ['anyOf(roleAttributes) not contains "l"', 'full'],
    ['allOf(roleAttributes) not contains "l"', 'nulls empty'],
    ['anyOf(roleAttributes) icontains "RED"', 'full'],
    ['anyOf(roleAttributes) < "blue"', ''],
    ['anyOf(roleAttributes) = null', ''],
    ['anyOf(services.name) = "web"', 'full'],
    ['count(roleAttributes) = 2', 'full'],
    ['count(roleAttributes) < 1', 'nulls empty'],
    ['count(roleAttributes) in [1, 2]', 'full'],
    ['count(from roleAttributes where id = "red") = 1', 'full'],
    ['count(from roleAttributes where id = "green" or id contains "b") = 1', 'full'],
    ['isEmpty(roleAttributes)', 'nulls empty'],
    ['not isEmpty(roleAttributes)', 'full'],
    ['isEmpty(from roleAttributes where id = "green")', 'full nulls empty'],
    ['isEmpty(from roleAttributes where id != "green")', 'nulls empty'],
  ])('%s finds: %s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })
})

describe('the stored value of a tag decides how it compares', () => {
  it.each([
    ['tags.site = "north"', 'full'],
    ['tags.site = null', 'nulls empty'],
    ['tags.site != "north"', 'nulls empty'],
    ['tags.floor = 3', 'full'],
    ['tags.floor = "3"', 'full'],
    ['tags.floor = "3.0"', ''],
    ['tags.floor != "3"', 'nulls empty'],
    ['tags.floor in ["3", "x"]', 'full'],
    ['tags.floor not in ["3"]', 'nulls empty'],
    ['tags.site = 3', ''],
    ['tags.floor between 3 and 4', 'full'],
    ['tags.floor < "4"', 'full'],
    ['tags.floor < "20"', ''],
    ['tags.floor contains "3"', 'full'],
    ['tags.live = true', 'full'],
    ['tags.live contains "t"', 'full'],
    ['tags.live icontains "RU"', 'full'],
    ['tags.live = "true"', 'full'],
    ['tags.live != "true"', 'nulls empty'],
    ['tags.live = 1', ''],
    ['tags.list contains "a"', ''],
    ['tags.live', 'full'],
    ['not tags.live', 'nulls empty'],
    ['tags.live and tags.site = "north"', 'full'],
    ['tags.site', ''],
    ['tags.floor', ''],
    ['tags.absent sort by name', ''],
    ['tags.none = null', 'full nulls empty'],
    ['tags.deep.er = "yes"', 'full'],
    ['tags.deep = null', 'nulls empty'],
    ['tags.site.north = null', 'full nulls empty'],
    ['tags.my-key icontains "K"', 'full'],
    ['tags.list.length = null', 'full nulls empty'],
    ['tags.constructor = null', 'full nulls empty'],
    ['tags.deep.toString = null', 'full nulls empty'],
  ])('%s finds: %s', (text, expected) => {
    expect(found(text)).toBe(expected)
  })
})

describe('ids', () => {
  it('finds exactly the records with one of the ids', () => {
    expect(RECORDS.filter((record) => matches(ids(['nulls', 'absent']), record)).map(({ id }) => id)).toEqual(['nulls'])
    expect(RECORDS.some((record) => matches(ids([]), record))).toBe(false)
  })
  it('asks once per record, not once per id', () => {
    const filter = ids(Array.from({ length: 50_000 }, (_, index) => `id ${index}`))
    const start = performance.now()
    for (let index = 0; index < 50_000; index += 1) matches(filter, { id: `other ${index}` })
    expect(performance.now() - start).toBeLessThan(1000)
  })
})
