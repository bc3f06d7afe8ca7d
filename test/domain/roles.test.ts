import { readRoles, type Semantic, selects } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'

const laptop = { id: 'laptop', roleAttributes: ['clients', 'berlin'] }
const bare = { id: 'bare', roleAttributes: [] }
const wellNamed = { id: 'well-named', roleAttributes: ['all'] }

const BOTH: readonly Semantic[] = ['AllOf', 'AnyOf']

describe('under either semantic', () => {
  it.each([
    ['an empty list selects nothing', [], laptop, false],
    ['#all selects an entity with attributes', ['#all'], laptop, true],
    ['#all selects an entity without attributes', ['#all'], bare, true],
    ['#all among other entries still selects everything', ['#servers', '#all'], laptop, true],
    ['@id selects the entity with that id', ['@laptop'], laptop, true],
    ['@id selects no other entity', ['@laptop'], bare, false],
    ['@id is OR-ed with an attribute that is missing', ['#servers', '@laptop'], laptop, true],
    ['@id of another entity does not narrow an attribute that is held', ['#clients', '@bare'], laptop, true],
    ['one attribute that is held', ['#clients'], laptop, true],
    ['one attribute that is missing', ['#servers'], laptop, false],
    ['attributes compare with case', ['#Clients'], laptop, false],
    ['an attribute is not matched by its beginning', ['#client'], laptop, false],
    ['ids compare with case', ['@Laptop'], laptop, false],
    ['an attribute is no id', ['@clients'], laptop, false],
    ['an id is no attribute', ['#laptop'], laptop, false],
    ['an attribute named all does not widen a role of another name', ['#clients'], wellNamed, false],
    ['duplicates count once', ['#clients', '#clients'], laptop, true],
    ['an entry without a prefix names nothing', ['clients', 'laptop', ''], laptop, false],
  ])('%s', (_, roles, entity, expected) => {
    for (const semantic of BOTH) expect(selects({ roles, semantic }, entity)).toBe(expected)
  })
})

describe('where the semantics differ', () => {
  it.each([
    ['both attributes held', ['#clients', '#berlin'], { AllOf: true, AnyOf: true }],
    ['one of two attributes held', ['#clients', '#paris'], { AllOf: false, AnyOf: true }],
    ['none of two attributes held', ['#servers', '#paris'], { AllOf: false, AnyOf: false }],
    ['one of two attributes held, and another id', ['#clients', '#paris', '@bare'], { AllOf: false, AnyOf: true }],
    ['one of two attributes held, and the own id', ['#clients', '#paris', '@laptop'], { AllOf: true, AnyOf: true }],
  ])('%s', (_, roles, expected) => {
    for (const semantic of BOTH) expect(selects({ roles, semantic }, laptop)).toBe(expected[semantic])
  })
})

describe('a role list taken apart', () => {
  it.each([
    ['nothing', [], { all: false, attributes: [], ids: [] }],
    ['the role #all is no attribute', ['#all'], { all: true, attributes: [], ids: [] }],
    ['an entity may have the id all', ['@all'], { all: false, attributes: [], ids: ['all'] }],
    ['prefixes are taken off once', ['##a', '#@b', '@#c'], { all: false, attributes: ['#a', '@b'], ids: ['#c'] }],
    ['each entry once, in order', ['#b', '@y', '#a', '#b', '@y'], { all: false, attributes: ['b', 'a'], ids: ['y'] }],
  ])('%s', (_, roles, { all, attributes, ids }) => {
    expect(readRoles(roles)).toEqual({ all, attributes, ids: new Set(ids) })
  })
})
