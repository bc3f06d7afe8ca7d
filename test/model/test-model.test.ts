import {
  accessGraph,
  dot,
  junit,
  mermaid,
  modelNetwork,
  readModel,
  svg,
  tap,
  testModel,
  testText,
} from 'portcullis/model'
import { describe, expect, it } from 'vitest'

const NETWORK = 'examples/quickstart/network.yaml'

function withAssertions(...lines: string[]) {
  const text = ['assertions:', ...lines.map((line) => `  - ${line}`)].join('\n')
  return readModel(NETWORK, { name: 'assertions.yaml', text })
}

describe('testing a model', () => {
  it('asks for entities that are there, in the state that their endpoint is said to be in', async () => {
    const managed = '{ domain: corp.example, os: { type: Linux, version: 6.1.0 } }'
    const result = await testModel(
      await withAssertions(
        `{ as: '#employees', posture: ${managed}, dial: { allow: [payroll, wiki, '#on-site'] } }`,
        '{ as: laptop, dial: { deny: payroll } }',
        "{ as: '@contractor', dial: { deny: ['#confidential', wiki] } }",
        '{ as: app-server, bind: { allow: "#all" }, dial: { deny: "#all" } }',
        "{ as: laptop, dial: { allow: printer }, via: '#office' }",
      ),
    )
    expect(testText(result)).toMatch(/\n16 passed$/)
    expect(result.cases.map(({ name }) => name).slice(0, 3)).toEqual([
      'laptop may dial payroll',
      'phone may dial payroll',
      'laptop may dial wiki',
    ])
  })

  it('explains what fails, with the place of the assertion', async () => {
    const result = await testModel(
      await withAssertions(
        '{ name: payroll, as: contractor, dial: { allow: payroll } }',
        "{ as: laptop, dial: { allow: wiki }, via: '#office' }",
        '{ as: nobody, dial: { deny: wiki } }',
      ),
    )
    expect(result).toMatchObject({ passed: 0, failed: 3 })
    const text = testText(result)
    expect(text).toContain('FAIL  payroll: contractor may dial payroll (assertions.yaml:2:5)')
    expect(text).toContain("'contractor' may not dial 'payroll': no service policy selects both")
    expect(text).toContain('not by way of #office alone: er-cloud may carry it too.')
    expect(text).toContain("There is no identity 'nobody' in the network.")
  })

  it('fails for whatever it names that does not exist, a denial by way of it included', async () => {
    const denied = [
      '{ as: lap-top, dial: { deny: payroll } }',
      "{ as: '#emploees', dial: { deny: payroll } }",
      '{ as: contractor, dial: { deny: pay-roll } }',
      "{ as: contractor, dial: { deny: payroll }, via: '#ofice' }",
      '{ as: contractor, dial: { deny: payroll }, via: [er-cloud, er-ofice] }',
    ]
    const { cases } = await testModel(await withAssertions(...denied))
    expect(cases.map(({ passed, text }) => [passed, text])).toEqual([
      [false, "There is no identity 'lap-top' in the network (did you mean 'laptop'?)."],
      [false, "No identity in the network has the role attribute 'emploees' (did you mean 'employees'?)."],
      [false, "There is no service 'pay-roll' in the network (did you mean 'payroll'?)."],
      [false, "No edge router in the network has the role attribute 'ofice' (did you mean 'office'?)."],
      [false, "There is no edge router 'er-ofice' in the network (did you mean 'er-office'?)."],
    ])
  })

  it('proves what may never be, or shows the smallest way to it', async () => {
    const result = await testModel(
      await withAssertions(
        "{ never: { identity: ['#visitors'], dial: ['#confidential'] }, unless: { identity: ['#employees'] } }",
        "{ never: { identity: ['#visitors'], dial: ['#confidential'] } }",
        "{ never: { identity: ['#all'], dial: ['@payroll'] }, posture: { domain: home } }",
        "{ never: { identity: ['#all'], dial: ['@payroll'] }, unless: { posture: ['@company-domain'] } }",
        "{ never: { identity: ['#all'], bind: ['#all'] }, unless: { identity: ['#servers'] } }",
        "{ never: { identity: ['#visitors'], dial: ['#on-site'] }, via: ['#office'] }",
        "{ never: { identity: ['#all'], dial: ['@payrol'] } }",
      ),
    )
    expect(result.cases.map(({ passed }) => passed)).toEqual([true, false, true, true, true, false, false])
    expect(result.cases[1]?.text).toBe(
      "An identity with the role attributes 'employees' and 'visitors' can dial the service 'payroll', by the service policy 'employees-dial-payroll'. No present identity can yet.",
    )
    expect(result.cases[6]?.text).toBe("No member of services is named 'payrol'.")
  })

  it('judges a second factor, an instant, and a model without edge routers', async () => {
    const text = `
      postureChecks: [{ name: mfa, typeId: MFA, timeoutSeconds: 60 }]
      services: [{ name: vault }]
      identities: [{ name: anna, type: User, isAdmin: false }]
      servicePolicies:
        - { name: p, type: Dial, semantic: AnyOf, identityRoles: ['#all'], serviceRoles: ['#all'], postureCheckRoles: ['@mfa'] }
      assertions:
        - { as: anna, posture: { mfa: true }, dial: { allow: vault }, at: 2031-01-01T00:00:00Z }
        - { as: anna, dial: { deny: vault } }
        - { never: { identity: ['#all'], dial: ['#all'] }, posture: {} }
        - { never: { identity: ['#all'], dial: ['#all'] }, posture: { mfa: true } }`
    const result = await testModel(await readModel({ name: 'mfa.yaml', text }))
    expect(result.notes).toEqual(['the model has no edge routers: a router that everybody may use is assumed'])
    expect(result.cases.map(({ passed }) => passed)).toEqual([true, true, true, false])
  })

  it('lets everybody use the edge routers of a model without router policies, and nobody where the list is empty', async () => {
    const text = `
      services: [{ name: vault }]
      identities: [{ name: anna }]
      edgeRouters: [{ name: r1 }]
      servicePolicies: [{ name: p, type: Dial, semantic: AnyOf, identityRoles: ['#all'], serviceRoles: ['#all'] }]
      assertions: [{ as: anna, dial: { allow: vault }, via: r1 }]`
    const read = (more: string) => readModel({ name: 'm.yaml', text: `${text}\n      ${more}` })
    expect(await testModel(await read(''))).toMatchObject({ passed: 1, failed: 0, notes: [] })
    expect(await testModel(await read('edgeRouterPolicies: []'))).toMatchObject({ passed: 0, failed: 1 })
  })

  it('tells what only a controller can judge at the line where it stands', async () => {
    const text = `
configs:
  - name: intercept
    configTypeId: intercept.v1
    data: { addresses: [] }
`
    await expect(testModel(await readModel({ name: 'configs.yaml', text }))).rejects.toThrow(
      /^configs\.yaml:5:5: configs 'intercept', data: /,
    )
    const missing =
      'services: [{ name: wiki, configs: [host-wiki] }]\nconfigs: [{ name: host-wikis, configTypeId: host.v1, data: {} }]'
    await expect(testModel(await readModel({ name: 'm.yaml', text: missing }))).rejects.toThrow(
      "m.yaml:1:36: services 'wiki', configs[0]: no member of configs is named 'host-wiki' (did you mean 'host-wikis'?)",
    )
  })

  it('reports as TAP and as JUnit', async () => {
    const result = await testModel(
      await withAssertions(
        '{ as: laptop, dial: { allow: wiki } }',
        "{ name: 'a <b> # c', as: laptop, dial: { deny: wiki } }",
      ),
    )
    expect(tap(result)).toMatch(
      /^TAP version 14\n1\.\.2\nok 1 - laptop may dial wiki\nnot ok 2 - a <b> \\# c: laptop may not dial wiki\n {2}---\n {2}at: "assertions\.yaml:3:5"\n {2}message: \|-\n {4}'laptop' may dial 'wiki'/,
    )
    const xml = junit(result, 'network & co')
    expect(xml).toContain('<testsuite name="network &amp; co" tests="2" failures="1" errors="0" skipped="0">')
    expect(xml).toContain(
      '<testcase classname="network &amp; co" name="laptop may dial wiki" file="assertions.yaml" line="2"/>',
    )
    expect(xml).toContain('name="a &lt;b&gt; # c: laptop may not dial wiki"')
  })
})

describe('the graph of a model', () => {
  it('groups by role attributes, and is true of every member: who is named alone stands alone', async () => {
    const more = `
identities: [{ name: laptop-2, type: Device, isAdmin: false, roleAttributes: [employees] }]
servicePolicies:
  - { name: only-two, type: Bind, semantic: AnyOf, identityRoles: ['@laptop-2'], serviceRoles: ['@wiki'] }`
    const network = await modelNetwork(await readModel(NETWORK, { name: 'more.yaml', text: more }))
    const graph = accessGraph(network)
    expect(graph.identities.map(({ roleAttributes, members }) => [roleAttributes.join(), members.join()])).toEqual([
      ['employees', 'laptop,phone'],
      ['employees', 'laptop-2'],
      ['servers', 'app-server'],
      ['visitors', 'contractor'],
    ])
    const two = graph.identities.find(({ members }) => members.includes('laptop-2'))?.id
    const wiki = graph.services.find(({ members }) => members.includes('wiki'))?.id
    expect(graph.edges).toContainEqual({ from: two, to: wiki, type: 'Bind', policies: ['only-two'], isGuarded: false })
    const payroll = graph.services.find(({ members }) => members.includes('payroll'))?.id
    expect(
      graph.edges.filter(({ to, type }) => to === payroll && type === 'Dial').every((edge) => edge.isGuarded),
    ).toBe(true)
    expect(mermaid(graph)).toContain(`  ${two} ==>|"Bind: only-two"| ${wiki}\n`)
    expect(dot(graph)).toContain(`  ${two} -> ${wiki} [label="Bind: only-two", style=bold]\n`)
    const picture = svg(graph)
    expect(picture.match(/<path /g)).toHaveLength(graph.edges.length)
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>\n$/s)
  })

  it('lets no name become markup', async () => {
    const text = `
services: [{ name: '<script>"];x', roleAttributes: ['a"b|c'] }]
identities: [{ name: 'i & j', type: User, isAdmin: false }]
servicePolicies: [{ name: 'p"|]', type: Dial, semantic: AnyOf, identityRoles: ['#all'], serviceRoles: ['#all'] }]`
    const graph = accessGraph(await modelNetwork(await readModel({ name: 'odd.yaml', text })))
    expect(svg(graph)).not.toMatch(/<script|i & j/)
    expect(mermaid(graph)).not.toMatch(/<script|p"\|/)
    expect(dot(graph)).toContain('label="Dial: p\\"|]"')
  })
})
