import { createServer, type Server } from 'node:https'
import express from 'express'
import { expressHandler } from 'portcullis/express'
import { type GatewayOptions, gateway } from 'portcullis/gateway'
import { createTestController, type RoutedTestController, type TestControllerOptions } from 'portcullis/testing'
import { freePort } from '../support/free-port.ts'
import { issue } from '../support/https-certificates.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { PlayedBrowser } from './played-browser.ts'

export const PASSWORD = 'Correct-Horse-1'

/** A network with two apps: staff may open the first, and nobody the second. */
const MODEL = {
  identities: [
    { name: 'host', type: 'Device' as const },
    { name: 'ann', type: 'User' as const, roleAttributes: ['staff'] },
    { name: 'bob', type: 'User' as const },
  ],
  services: [{ name: 'payroll' }, { name: 'secret' }, { name: 'wiki' }],
  servicePolicies: [
    {
      name: 'host',
      type: 'Bind' as const,
      semantic: 'AnyOf' as const,
      identityRoles: ['@host'],
      serviceRoles: ['#all'],
    },
    {
      ...{ name: 'staff', type: 'Dial' as const, semantic: 'AnyOf' as const },
      ...{ identityRoles: ['#staff'], serviceRoles: ['@payroll', '@wiki'] },
    },
  ],
}

/** A gateway on a socket, the controller of its login page on another, and browsers that go to both. */
export interface ServedGateway {
  readonly net: RoutedTestController
  readonly server: Server
  readonly port: number
  readonly door: ReturnType<typeof gateway>
  /** The port of the controller, with the login page. */
  readonly loginPort: number
  /** `https://LABEL.apps.test:PORT`. */
  origin(label: string): string
  browser(): PlayedBrowser
  close(): Promise<void>
  /** A browser that has logged in and opened an app. */
  loggedIn(username?: string, label?: string): Promise<PlayedBrowser>
}

/**
 * Serves a gateway until it is closed; for real browsers below `localhost`, which they find, and with a login page that asks for no
 * certificate: WebKit would have its user choose one, and its driver cannot.
 */
export async function servedGateway(
  options: Partial<GatewayOptions> = {},
  { oidc, ...more }: TestControllerOptions = {},
  domain: 'test' | 'localhost' = 'test',
): Promise<ServedGateway> {
  const [port, loginPort] = [await freePort(), await freePort()]
  const net = await createTestController({
    ...(await withSharedPki({})),
    ...{ clock: 'live', model: MODEL, address: `login.${domain}:${loginPort}` },
    oidc: { redirectUris: [`https://home.apps.${domain}:${port}/.portcullis/callback`], ...(oidc || {}) },
    ...more,
    router: true,
  })
  for (const username of ['ann', 'bob']) {
    const { data } = await net.admin.call('GET /identities', { query: { filter: `name="${username}"` } })
    const identityId = data[0]?.id ?? ''
    await net.admin.call('POST /authenticators', { body: { method: 'updb', identityId, username, password: PASSWORD } })
  }
  const { key, cert } = await issue(`apps.${domain}`)
  const loginPage = createServer({ key, cert }, express().use(expressHandler(net)))
  if (domain === 'test') await net.listen({ port: loginPort })
  else await new Promise<void>((resolve) => loginPage.listen(loginPort, '127.0.0.1', resolve))
  net.changeAddress(`login.${domain}:${loginPort}`)
  const door = gateway(net, { hosts: `*.apps.${domain}:${port}`, router: net.router, ...options })
  const server = createServer({ key, cert })
  door.attach(server)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = async () => {
    await door.close()
    server.closeAllConnections()
    server.close()
    loginPage.closeAllConnections()
    loginPage.close()
    await net.close()
  }
  const origin = (label: string) => `https://${label}.apps.${domain}:${port}`
  const browser = () => new PlayedBrowser()
  return {
    ...{ net, server, port, door, loginPort, origin, browser, close },
    loggedIn: async (username = 'ann', label = 'payroll') => {
      const opened = browser()
      await opened.logIn(`${origin(label)}/`, { username, password: PASSWORD })
      return opened
    },
  }
}
