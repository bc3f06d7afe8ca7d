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

  it('takes a text in YAML that has no name', async () => {
    for (const text of [
      'services:\n  - name: wiki\n',
      'services: [{ name: wiki }]',
      '{ services: [{ name: wiki }] }',
    ]) {
      expect((await readModel(text)).entities.map(({ name }) => name)).toEqual(['wiki'])
    }
    await expect(readModel('services:\n  - nam: wiki\n')).rejects.toThrow(/^model:2:/)
    await expect(readModel('network.txt')).rejects.toThrow('network.txt: is no model file: its name must end in .yaml')
  })

  it('takes an identity for no administrator, and of the type Default, unless it says so', async () => {
    const own = defineModel({ identities: [{ name: 'a' }, { name: 'b', type: 'Device', isAdmin: true }] })
    for (const { entities } of [await readModel(own), await readModel({ name: 'n.json', text: JSON.stringify(own) })]) {
      expect(entities.map(({ body }) => body)).toEqual([
        { name: 'a', type: 'Default', isAdmin: false },
        { name: 'b', type: 'Device', isAdmin: true },
      ])
    }
  })

  it('refuses what is empty: a file, a list, a member that was forgotten behind its colon', async () => {
    expect(await problemsOf('')).toEqual(['network.yaml:1:1: is empty: write {} for a model of nothing'])
    expect(await problemsOf('# nothing yet\n')).toEqual([expect.stringMatching(/^network\.yaml:1:1: is empty/)])
    expect(await problemsOf('services:\nassertions:\n')).toEqual([
      'network.yaml:1:1: services: is empty: write [], or leave it out',
      'network.yaml:2:1: assertions: is empty: write [], or leave it out',
    ])
    const policy = [
      'servicePolicies:',
      '  - name: staff',
      '    type: Dial',
      '    semantic: AnyOf',
      '    identityRoles:',
    ]
    expect(await problemsOf(policy.join('\n'))).toEqual([
      "network.yaml:5:5: servicePolicies 'staff', identityRoles: is empty: give it a value, or leave it out",
    ])
    expect(await problemsOf('services:\n  - name:\n')).toEqual(['network.yaml:2:5: services[0], name: is required'])
    expect(await problemsOf('servicePolicies: [{ name: staff, semantic: AnyOf }]')).toEqual([
      "network.yaml:1:19: servicePolicies 'staff', type: is required: Dial or Bind",
    ])
    const { entities } = await readModel({ name: 'network.yaml', text: '{}' }, { services: [] })
    expect(entities).toEqual([])
  })

  it('tells the line of a mistake in a program, where the name stands there once', async () => {
    const lines = [
      "const twice = 'twice'",
      'export default {',
      "  services: [{ name: 'wiki', roleAttribute: ['a'] }, { name: 'mail',",
      '    maxIdleTimeMillis: "soon" }, { name: twice, nme: 1 }],',
      "  identities: [{ roleAttributes: ['#x'], name: 'laptop' }],",
      '  servces: [],',
      '}',
    ]
    const file = join(folder, 'wrong.mjs')
    await writeFile(file, lines.join('\n'))
    const refused = await readModel(file).catch((error: unknown) => String(error))
    expect(
      String(refused)
        .replaceAll(`${file}`, 'wrong.mjs')
        .replace(/^\w+: /, '')
        .split('\n'),
    ).toEqual([
      expect.stringMatching(/^wrong\.mjs:6:3: servces: a model has no such member/),
      expect.stringMatching(/^wrong\.mjs:3:30: services 'wiki', roleAttribute: is unknown/),
      expect.stringMatching(/^wrong\.mjs:4:5: services 'mail', maxIdleTimeMillis: must be a number/),
      expect.stringMatching(/^wrong\.mjs: services 'twice', nme: is unknown/),
      expect.stringMatching(/^wrong\.mjs:5:\d+: identities 'laptop', /),
    ])
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
      "network.yaml:4:5: services 'wiki', maxIdleTimeMillis: must be a number",
      'network.yaml:5:5: services[1], name: is required',
      expect.stringMatching(/^network\.yaml:14:65: identities 'laptop', enrollment\.otp: is unknown/),
      expect.stringMatching(/^network\.yaml:15:68: identities 'laptop', roleAttributes\[0\]: '#x' may not begin/),
      "network.yaml:9:5: servicePolicies 'staff', semantic: should be one of [AllOf AnyOf]",
      "network.yaml:10:21: servicePolicies 'staff', identityRoles[0]: 'staff' must begin with # (a role attribute) or @ (a name)",
      "network.yaml:15:7: identities 'laptop': is there twice, first at network.yaml:14:7: give one of them another name",
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
      "network.yaml:5:14: assertions[3].dail: is unknown (did you mean 'dial'?)",
    ])
    await expect(readModel(join(folder, 'network.txt'))).rejects.toThrow(/must end in \.yaml/)
    await writeFile(join(folder, 'empty.mjs'), 'export const x = 1')
    await expect(readModel(join(folder, 'empty.mjs'))).rejects.toThrow(/has no default export/)
  })

  const CHECK = '{ name: c, typeId: DOMAIN, domains: [a.example] }'
  it.each([
    ['services: [{ name: 42 }]', "1:14: services[0], name: must be a text: '42' in quotes"],
    ['services: [{ name: a, roleAttributes: x }]', "1:23: services 'a', roleAttributes: must be a list, as ['x']"],
    ['services: { a: {} }', '1:1: services: must be a list: begin each entity with - in a line of its own'],
    ['services: [a]', '1:12: services[0]: must be a map, as { name: payroll }'],
    ["identities: [{ name: a, type: Device, isAdmin: 'no' }]", "1:39: identities 'a', isAdmin: must be true or false"],
    [
      'servicePolicies: [{ name: a, type: Dail, semantic: AnyOf }]',
      "1:30: servicePolicies 'a', type: should be one of [Dial Bind] (did you mean 'Dial'?)",
    ],
    [
      `postureChecks: [${CHECK.replace('domains: [a.example]', 'macAddresses: [a]')}]`,
      "1:44: postureChecks 'c', macAddresses: belongs to another type: a check of the type DOMAIN has domains",
    ],
    [
      `postureChecks: [${CHECK.replace('DOMAIN', 'DOMAINS')}]`,
      "1:28: postureChecks 'c', typeId: should be one of [OS PROCESS PROCESS_MULTI DOMAIN MAC MFA] (did you mean 'DOMAIN'?)",
    ],
    ['services: *none', '1:11: nothing above is marked &none; put a text that begins with * in quotes'],
    ['services: []\nservices: []', '2:1: services is there twice in one map: write its values together'],
    ['services:\n\t- { name: a }', '2:1: Tabs are not allowed as indentation: indent with spaces'],
    ['services: []\n---\nservices: []', '2:1: a model file is one document: take out the line ---'],
    ['services: [#a]', /^1:12: Comments must .*: put a text that begins with # in quotes$/],
    [
      'assertions: [{ matrix: { a: { b: dail } } }]',
      "1:31: assertions[0].matrix.a.b: must be one of dial, bind, both, none (did you mean 'dial'?)",
    ],
    [
      'assertions: [{ as: a, posture: { domian: x }, dial: { allow: b } }]',
      "1:34: assertions[0].posture.domian: is unknown (did you mean 'domain'?)",
    ],
  ])('tells the place of a mistake and how to mend it: %s', async (text, message) => {
    const [first, ...others] = await problemsOf(text)
    expect(first?.replace('network.yaml:', '')).toEqual(
      message instanceof RegExp ? expect.stringMatching(message) : message,
    )
    expect(others).toEqual([])
  })

  it.each([
    ['{"services": [{"name": "a"},]}', 29],
    ["{'services': []}", 2],
    ['{"services": [{"name": "a"}', 28],
    ['{"services": [{"name": "b"}], "assertions": nothing}', 46],
  ])('reads JSON strictly, and tells where %s is none', async (text, column) => {
    const name = join(folder, 'wrong.json')
    await writeFile(name, text)
    await expect(readModel(name)).rejects.toThrow(`wrong.json:1:${column}: is no JSON: `)
  })
})
