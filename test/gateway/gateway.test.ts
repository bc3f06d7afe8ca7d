import { expect, it } from 'vitest'
import { servedGateway } from './served-gateway.ts'

it('leads a browser from a dark app to the login page and back, and dials as the identity that logged in', async () => {
  const { browser, net, origin } = await servedGateway()
  await net.as('host').host('payroll', (request, response) => {
    response.end(`${request.method} ${request.url} for ${request.caller?.name} at ${request.headers.host}`)
  })
  const ann = browser()
  const seen = await ann.logIn(`${origin('payroll')}/salaries?of=ann`, { username: 'ann', password: 'Correct-Horse-1' })
  expect(seen).toMatchObject({ status: 200, url: `${origin('payroll')}/salaries?of=ann` })
  expect(seen.body).toBe(`GET /salaries?of=ann for ann at ${new URL(origin('payroll')).host}`)
  const again = await ann.send(`${origin('payroll')}/again`)
  expect(again.body).toMatch(/^GET \/again for ann/)
})
