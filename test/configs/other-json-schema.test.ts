import type { JsonSchema } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'

/** Judges by the required members alone, and makes no code out of schemas. */
const requiredMembers: JsonSchema = {
  problemOf: async ({ required }) => (Array.isArray(required) ? undefined : 'required is missing'),
  violationOf: async ({ required }, value) => {
    const lacking = (required as readonly string[]).find((name) => !Object.hasOwn(value as object, name))
    return lacking === undefined ? undefined : { path: [], requirement: `${lacking} is required`, value }
  },
}

describe('a JSON schema port of the host', () => {
  it('judges config types and configs instead of the one that compiles schemas', async () => {
    await using controller = await createTestController({ jsonSchema: requiredMembers })
    const typeOf = (schema: object) =>
      controller.admin.call('POST /config-types', { body: { name: 'door', schema: schema as never } })
    await expect(typeOf({ type: 'object' })).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
    const { data } = await typeOf({ type: 'object', required: ['width'] })
    const configOf = (name: string, value: object) =>
      controller.admin.call('POST /configs', { body: { name, configTypeId: data.id, data: value as never } })
    await expect(configOf('narrow', { height: 2 })).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
    expect((await configOf('wide', { width: 2 })).data.id).toBeTruthy()
  })

  it('is refused where a function of it is missing', async () => {
    const half = { problemOf: async () => undefined } as never
    await expect(createTestController({ jsonSchema: half })).rejects.toThrow('jsonSchema.violationOf is missing')
  })
})
