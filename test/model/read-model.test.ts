import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineModel, ModelError, readModel } from 'portcullis/model'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

async function problemsOf(text: string): Promise<readonly string[]> {
  const refused = await readModel({ name: 'network.yaml', text }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(refused instanceof ModelError)) throw new Error('the model was read')
  return refused.message.split('\n')
}

describe('reading a model', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-model-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('takes YAML, JSON and programs, and several files as one', async () => {
    await writeFile(join(folder, 'a.yaml'), 'services:\n  - { name: wiki }\n')
    await writeFile(join(folder, 'b.json'), '{ "services": [{ "name": "mail" }] }')
    await writeFile(join(folder, 'c.mjs'), 'export default { services: [{ name: "chat" }] }')
    const files = ['a.yaml', 'b.json', 'c.mjs'].map((name) => join(folder, name))
    const own = defineModel({ services: [{ name: 'print' }], assertions: [{ as: 'laptop', dial: { deny: 'print' } }] })
    const { entities, assertions } = await readModel(...files, own)
    expect(entities.map(({ name }) => name)).toEqual(['wiki', 'mail', 'chat', 'print'])
    expect(assertions.map(({ assertion }) => assertion)).toEqual([{ as: 'laptop', dial: { deny: 'print' } }])
  })

  it('tells every mistake with its line, the entity and the member', async () => {
    const text = [
      'services:',
      '  - name: wiki',
      '    roleAttribute: [a]',
      '    maxIdleTimeMillis: soon',
      '  - { roleAttributes: [b] }',
      'servicePolicies:',
      '  - name: staff',
      '    type: Dial',
      '    semantic: Sometimes',
      "    identityRoles: ['staff']",
      'postureChecks:',
      '  - { name: mac, typeId: MAC, macAdresses: ["00:11"] }',
      'identities:',
      '  - { name: laptop, type: Device, isAdmin: false, enrollment: { otp: true } }',
      '  - { name: laptop, type: Device, isAdmin: false, roleAttributes: ["#x"] }',
      'servces: []',
    ].join('\n')
    expect(await problemsOf(text)).toEqual([
      expect.stringMatching(/^network\.yaml:16:1: servces: a model has no such member \(did you mean 'services'\?\)/),
      expect.stringMatching(/^network\.yaml:12:31: postureChecks 'mac', macAdresses: is unknown/),
      "network.yaml:3:5: services 'wiki', roleAttribute: is unknown (did you mean 'roleAttributes'?)",
      "network.yaml:4:5: services 'wiki', maxIdleTimeMillis: must be of type number",
      'network.yaml:5:5: services[1], name: is required',
      expect.stringMatching(/^network\.yaml:14:65: identities 'laptop', enrollment\.otp: is unknown/),
      expect.stringMatching(/^network\.yaml:15:68: identities 'laptop', roleAttributes\[0\]: '#x' may not begin/),
      "network.yaml:9:5: servicePolicies 'staff', semantic: should be one of [AllOf AnyOf]",
      "network.yaml:10:21: servicePolicies 'staff', identityRoles[0]: 'staff' must begin with # (a role attribute) or @ (a name)",
      "network.yaml:15:7: identities 'laptop': is there twice",
    ])
  })

  it('tells what is no YAML, no assertion and no model', async () => {
    expect(await problemsOf('services: [')).toEqual([expect.stringMatching(/^network\.yaml:1:\d+: Flow sequence/)])
    expect(await problemsOf('- 1')).toEqual(['network.yaml:1:1: a model is a map of lists of entities'])
    expect(
      await problemsOf(
        'assertions:\n  - { as: a }\n  - { dial: {} }\n  - { never: { dial: [x] } }\n  - { as: a, dail: 1 }',
      ),
    ).toEqual([
      "network.yaml:2:5: assertions[0]: needs 'dial' or 'bind', with 'allow' or 'deny'",
      "network.yaml:3:5: assertions[1]: needs 'as' (an identity that is there), 'never' (no identity at all) or 'matrix' (a table)",
      'network.yaml:4:7: assertions[2].never.identity: is required',
      'network.yaml:4:23: assertions[2].never.dial[0]: must begin with # (a role attribute) or @ (a name)',
      'network.yaml:5:14: assertions[3].dail: is unknown',
    ])
    await expect(readModel(join(folder, 'network.txt'))).rejects.toThrow(/must end in \.yaml/)
    await writeFile(join(folder, 'empty.mjs'), 'export const x = 1')
    await expect(readModel(join(folder, 'empty.mjs'))).rejects.toThrow(/has no default export/)
  })
})
