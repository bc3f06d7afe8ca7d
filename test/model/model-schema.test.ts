import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { modelSchema } from 'portcullis/model'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const ajv = new Ajv({ allErrors: true, strictTypes: false, allowUnionTypes: true })
addFormats.default(ajv)
const isModel = ajv.compile(await modelSchema())

/** The mistakes that an editor shows, by their places. */
function mistakes(text: string): readonly string[] {
  return isModel(parse(text)) ? [] : (isModel.errors ?? []).map(({ instancePath }) => instancePath)
}

describe('the JSON Schema of model files', () => {
  it('is in the package as it is', async () => {
    const shipped = JSON.parse(readFileSync(join(root, 'model.schema.json'), 'utf8'))
    expect(shipped).toEqual(JSON.parse(JSON.stringify(await modelSchema())))
  })

  it('accepts the model files that the examples and the guides have', () => {
    const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    const examples = files.filter((file) => file.endsWith('.yaml')).map((file) => join(root, 'examples', file))
    const models = examples
      .map((file) => readFileSync(file, 'utf8'))
      .filter((text) => /^(identities|services):/m.test(text))
    const guide = readFileSync(join(root, 'docs/policies-as-code.md'), 'utf8')
    const blocks = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
    expect(models.length).toBeGreaterThan(1)
    expect(blocks.length).toBeGreaterThan(1)
    const shortest = 'identities: [{ name: laptop }]'
    for (const text of [...models, ...blocks, shortest]) expect([mistakes(text), text]).toEqual([[], text])
  })

  it.each([
    ['a member that is misspelled', 'services: [{ nme: wiki }]', '/services/0'],
    ['a kind that there is not', 'service: []', ''],
    ['a choice that there is not', 'identities: [{ name: a, type: Laptop, isAdmin: false }]', '/identities/0/type'],
    [
      'a role without its mark',
      'servicePolicies: [{ name: a, type: Dial, semantic: AnyOf, identityRoles: [staff] }]',
      '/servicePolicies/0/identityRoles/0',
    ],
    [
      'a type for reading alone',
      'servicePolicies: [{ name: a, type: Invalid, semantic: AnyOf }]',
      '/servicePolicies/0/type',
    ],
    ['an assertion that says nothing', 'assertions: [{ dial: { allow: wiki } }]', '/assertions/0'],
  ])('shows %s where it is', (_, text, place) => {
    expect(mistakes(text)).toContain(place)
  })
})
