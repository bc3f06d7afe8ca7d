import fc from 'fast-check'
import type { Config, Invitation, LinkedScene, Person, Policy, Service, Terminator } from './linked-scene.ts'

/** A filter text and what it means, worked out from the facts by the plainest means. */
export interface Meaning<E> {
  readonly text: string
  holds(entity: E): boolean
}

/** A test of one text: what stands behind the operand, what it means, and whether `not` is about the whole condition. */
interface TextTest {
  readonly text: string
  readonly isWholeNegated: boolean
  holds(value: string | null): boolean
}

const word = fc.constantFrom('a', 'ab', 'b', 'B', 'red', 'blue', 'web', 'Web', 'x', 'p', 't1', 'none', '')

const textTest: fc.Arbitrary<TextTest> = fc.oneof(
  word.map((w) => ({ text: `= "${w}"`, isWholeNegated: false, holds: (value: string | null) => value === w })),
  word.map((w) => ({ text: `!= "${w}"`, isWholeNegated: false, holds: (value: string | null) => value !== w })),
  word.map((w) => ({
    text: `> "${w}"`,
    isWholeNegated: false,
    holds: (value: string | null) => value !== null && value > w,
  })),
  word.map((w) => ({
    text: `contains "${w}"`,
    isWholeNegated: false,
    holds: (value: string | null) => value?.includes(w) ?? false,
  })),
  word.map((w) => ({
    text: `not contains "${w}"`,
    isWholeNegated: false,
    holds: (value: string | null) => !(value?.includes(w) ?? false),
  })),
  fc.tuple(word, word).map(([v, w]) => ({
    text: `in ["${v}", "${w}"]`,
    isWholeNegated: false,
    holds: (value: string | null) => value === v || value === w,
  })),
  fc.tuple(word, word).map(([v, w]) => ({
    text: `not in ["${v}", "${w}"]`,
    isWholeNegated: true,
    holds: (value: string | null) => value === v || value === w,
  })),
  fc.constant({ text: '= null', isWholeNegated: false, holds: (value: string | null) => value === null }),
)

/** A symbol of a single value. */
function single<E>(symbol: string, valueIn: (entity: E) => string | null): fc.Arbitrary<Meaning<E>> {
  return textTest.map(({ text, isWholeNegated, holds }) => ({
    text: `${symbol} ${text}`,
    holds: (entity) => holds(valueIn(entity)) !== isWholeNegated,
  }))
}

/** A symbol of many values, in `anyOf` or `allOf`. */
function many<E>(symbol: string, valuesIn: (entity: E) => readonly (string | null)[]): fc.Arbitrary<Meaning<E>> {
  return fc.tuple(fc.constantFrom('anyOf', 'allOf'), textTest).map(([quantifier, { text, isWholeNegated, holds }]) => ({
    text: `${quantifier}(${symbol}) ${text}`,
    holds: (entity) => {
      const values = valuesIn(entity)
      return (quantifier === 'anyOf' ? values.some(holds) : values.every(holds)) !== isWholeNegated
    },
  }))
}

/** How many of the linked entities fulfil a condition, or whether any does. */
function set<E, L>(
  symbol: string,
  entitiesIn: (entity: E) => readonly L[],
  condition: fc.Arbitrary<Meaning<L>>,
): fc.Arbitrary<Meaning<E>> {
  const numbers = fc.tuple(fc.constantFrom('=', '>', '<='), fc.nat(2))
  return fc.oneof(
    condition.map(({ text, holds }) => ({
      text: `isEmpty(from ${symbol} where ${text})`,
      holds: (entity: E) => !entitiesIn(entity).some(holds),
    })),
    fc.tuple(condition, numbers).map(([{ text, holds }, [operator, than]]) => ({
      text: `count(from ${symbol} where ${text}) ${operator} ${than}`,
      holds: (entity: E) => compares(entitiesIn(entity).filter(holds).length, operator, than),
    })),
    numbers.map(([operator, than]) => ({
      text: `count(${symbol}) ${operator} ${than}`,
      holds: (entity: E) => compares(entitiesIn(entity).length, operator, than),
    })),
    fc.constant({ text: `isEmpty(${symbol})`, holds: (entity: E) => entitiesIn(entity).length === 0 }),
  )
}

function compares(number: number, operator: string, than: number): boolean {
  if (operator === '=') return number === than
  return operator === '>' ? number > than : number <= than
}

/** Conditions joined, in parentheses wherever the language would group them otherwise. */
function joined<E>(condition: fc.Arbitrary<Meaning<E>>): fc.Arbitrary<Meaning<E>> {
  return fc.oneof(
    { weight: 3, arbitrary: condition },
    {
      weight: 1,
      arbitrary: condition.map(({ text, holds }) => ({ text: `not (${text})`, holds: (entity: E) => !holds(entity) })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(condition, condition, fc.boolean()).map(([one, other, isAnd]) => ({
        text: `(${one.text}) ${isAnd ? 'and' : 'or'} (${other.text})`,
        holds: (entity: E) =>
          isAnd ? one.holds(entity) && other.holds(entity) : one.holds(entity) || other.holds(entity),
      })),
    },
  )
}

const config = joined<Config>(
  fc.oneof(
    single('name', ({ name }: Config) => name),
    single('type.name', ({ type }: Config) => type.name),
  ),
)

const floor = fc.constantFrom('3', '12', 'top').map((text) => ({
  text: `tags.floor = "${text}"`,
  holds: (service: Service) => String(service.floor) === text,
}))
const service = joined<Service>(
  fc.oneof(
    single('name', ({ name }: Service) => name),
    floor,
    many('roleAttributes', ({ roles }: Service) => roles),
    many('configs.name', ({ configs }: Service) => configs.map(({ name }) => name)),
    many('configs.type.name', ({ configs }: Service) => configs.map(({ type }) => type.name)),
    set('configs', ({ configs }: Service) => configs, config),
  ),
)

const person = joined<Person>(
  fc.oneof(
    single('name', ({ name }: Person) => name),
    many('roleAttributes', ({ roles }: Person) => roles),
  ),
)

const policy = joined<Policy>(
  fc.oneof(
    many('services.name', ({ services }: Policy) => services.map(({ name }) => name)),
    many('services.roleAttributes', ({ services }: Policy) => services.flatMap(({ roles }) => roles)),
    many('services.configs.name', ({ services }: Policy) =>
      services.flatMap(({ configs }) => configs.map(({ name }) => name)),
    ),
    many('identities.name', ({ identities }: Policy) => identities.map(({ name }) => name)),
    set('services', ({ services }: Policy) => services, service),
    set('identities', ({ identities }: Policy) => identities, person),
    fc.constant({
      text: 'isEmpty(services.configs)',
      holds: ({ services }: Policy) => services.every(({ configs }) => configs.length === 0),
    }),
  ),
)

const invitation = joined<Invitation>(
  fc.oneof(
    single('identity.name', ({ identity }: Invitation) => identity?.name ?? null),
    many('identity.roleAttributes', ({ identity }: Invitation) => identity?.roles ?? []),
    set(
      'identity.roleAttributes',
      ({ identity }: Invitation) => identity?.roles ?? [],
      single<string>('id', (role) => role),
    ),
    single('edgeRouter.name', ({ identity }: Invitation) => (identity === null ? 'router' : null)),
  ),
)

const terminator = joined<Terminator>(
  fc.oneof(
    single('service.name', ({ service: { name } }: Terminator) => name),
    many('service.roleAttributes', ({ service: { roles } }: Terminator) => roles),
    many('service.configs.name', ({ service: { configs } }: Terminator) => configs.map(({ name }) => name)),
    set('service.configs', ({ service: { configs } }: Terminator) => configs, config),
  ),
)

/** Filters of each list, with what they mean. */
export const MEANINGS: { readonly [Path in keyof LinkedScene]: fc.Arbitrary<Meaning<LinkedScene[Path][number]>> } = {
  '/configs': config,
  '/services': service,
  '/service-policies': policy,
  '/enrollments': invitation,
  '/terminators': terminator,
}
