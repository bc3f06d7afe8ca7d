import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:tls'
import type { PlayedBrowser, Seen } from '../gateway/played-browser.ts'
import { PASSWORD, type ServedGateway } from '../gateway/served-gateway.ts'

/** A gateway with two apps: `payroll` tells what reached it, `wiki` answers bytes that the attack chooses. */
export interface Attacked extends ServedGateway {
  /** Requests that reached `payroll`. */
  readonly reached: IncomingMessage[]
  /** The bytes that `wiki` answers; it closes after them. */
  answer: string
  readonly ann: PlayedBrowser
}

/** An act of an attacker, and the answer to it. */
export type Attack = readonly [attack: string, tried: (world: Attacked) => Promise<unknown>, seen: unknown]

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'

/** Sends lines to `payroll` with the session of ann; answers the statuses of the answers, and how many requests reached the app. */
const sent =
  (lines: readonly string[], body = '') =>
  async (world: Attacked) => {
    const before = world.reached.length
    const cookie = world.ann.cookieFor('payroll.apps.test')
    const socket = connect({
      host: '127.0.0.1',
      port: world.port,
      servername: 'payroll.apps.test',
      rejectUnauthorized: false,
    })
    const host = `payroll.apps.test:${world.port}`
    const [first = '', ...rest] = lines
    socket.write([first, `Host: ${host}`, `Cookie: ${cookie}`, ...rest, '', body].join('\r\n').replaceAll('HOST', host))
    let text = ''
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
    socket.on('error', () => undefined)
    const timer = setTimeout(() => socket.destroy(), 700)
    await new Promise((resolve) => socket.once('close', resolve))
    clearTimeout(timer)
    return [
      [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)),
      world.reached.length - before,
    ]
  }

/** A request of the browser of ann to `payroll`; answers its status and what reached the app. */
const asked =
  (options: Parameters<PlayedBrowser['send']>[1], what: (request: IncomingMessage) => unknown = () => true) =>
  async ({ ann, origin, reached }: Attacked) => {
    const before = reached.length
    const { status } = await ann.send(`${origin('payroll')}/`, options)
    return [status, ...reached.slice(before).map(what)]
  }

const headers = (sentHeaders: Readonly<Record<string, string | string[]>>, name: string) =>
  asked({ headers: sentHeaders }, (request) => request.headers[name])

/** A request that a page of another origin causes in the browser of ann. */
const foreign = (metadata: Readonly<Record<string, string>>, method = 'GET') => asked({ method, headers: metadata })

/** An answer of `wiki`, as ann sees it. */
const answered =
  (bytes: string, what: (seen: Seen) => unknown = ({ status }) => status) =>
  async (world: Attacked) => {
    world.answer = bytes
    return what(await world.ann.send(`${world.origin('wiki')}/`))
  }

const header = (name: string) => (seen: Seen) => seen.headers[name] ?? 'none'

/** The addresses of a login of ann that begins in a browser. */
async function loginOf(
  world: Attacked,
  path = '/',
): Promise<{ readonly browser: PlayedBrowser; readonly last: string }> {
  const browser = world.browser()
  await browser.logIn(`${world.origin('payroll')}${path}`, { username: 'ann', password: PASSWORD })
  return { browser, last: browser.visited.at(-2) ?? '' }
}

export const SMUGGLING: readonly Attack[] = [
  [
    'a length and chunks',
    sent(['POST / HTTP/1.1', 'Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    [[400], 0],
  ],
  ['two lengths', sent(['POST / HTTP/1.1', 'Content-Length: 4', 'Content-Length: 5'], 'abcde'), [[400], 0]],
  ['a length with a sign', sent(['POST / HTTP/1.1', 'Content-Length: +4'], 'abcd'), [[400], 0]],
  ['chunks spelled otherwise', sent(['POST / HTTP/1.1', 'Transfer-Encoding: xchunked'], '0\r\n\r\n'), [[400], 0]],
  ['chunks twice', sent(['POST / HTTP/1.1', 'Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'), [[400], 0]],
  [
    'a chunk with a sign',
    sent(['POST / HTTP/1.1', 'Transfer-Encoding: chunked'], '-1\r\nabc\r\n0\r\n\r\n'),
    [[400], 0],
  ],
  ['a line that ends in LF alone', sent(['GET / HTTP/1.1', 'X-A: 1\nTransfer-Encoding: chunked']), [[400], 0]],
  ['a line that ends in CR alone', sent(['GET / HTTP/1.1', 'X-A: 1\rX-User: root']), [[400], 0]],
  ['a space before the colon', sent(['POST / HTTP/1.1', 'Content-Length : 4'], 'abcd'), [[400], 0]],
  ['a folded header', sent(['GET / HTTP/1.1', 'X-A: 1', ' X-User: root']), [[400], 0]],
  ['a NUL in a header', sent(['GET / HTTP/1.1', 'X-A: 1\0']), [[400], 0]],
  ['two hosts', sent(['GET / HTTP/1.1', 'Host: wiki.apps.test']), [[400], 0]],
  ['the address of another host as target', sent(['GET https://wiki.apps.test/ HTTP/1.1']), [[400], 0]],
  [
    'a request in the body of a request',
    sent(
      ['GET / HTTP/1.1', 'Content-Length: 34', 'Connection: close'],
      'GET /admin HTTP/1.1\r\nHost: HOST\r\n\r\n'.slice(0, 34),
    ),
    [[200], 1],
  ],
  [
    'a request in a body whose length Connection names',
    sent(
      ['GET / HTTP/1.1', 'Content-Length: 46', 'Connection: content-length'],
      'GET /admin HTTP/1.1\r\nHost: a\r\nX-User: root\r\n\r\n',
    ),
    [[200], 1],
  ],
  ['a target that is no address', sent(['GET //[ HTTP/1.1', 'Connection: close']), [[200], 1]],
  ['a target with the port of no address', sent(['GET //a:99999/ HTTP/1.1', 'Connection: close']), [[200], 1]],
  ['HTTP/2 in the clear', sent(['GET / HTTP/1.1', 'Connection: Upgrade', 'Upgrade: h2c']), [[400], 0]],
  [
    'a websocket with a body',
    sent(['GET / HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 5'], 'hello'),
    [[400], 0],
  ],
  ['TRACE, which shows cookies', sent(['TRACE / HTTP/1.1', 'Connection: close']), [[405], 0]],
  ['CONNECT', sent(['CONNECT wiki:80 HTTP/1.1']), [[], 0]],
  ['headers of 20 kB', sent(['GET / HTTP/1.1', `X-A: ${'a'.repeat(20_000)}`]), [[431], 0]],
]

export const HEADERS: readonly Attack[] = [
  ['the header of the caller', headers({ 'x-user': 'root' }, 'x-user'), [200, 'ann']],
  ['the same in capitals', headers({ 'X-USER': 'root' }, 'x-user'), [200, 'ann']],
  ['the same with an underscore', headers({ x_user: 'root' }, 'x_user'), [200, undefined]],
  ['the same with a dot', headers({ 'x.user': 'root' }, 'x.user'), [200, undefined]],
  ['the same with a tilde', headers({ 'X~User': 'root' }, 'x~user'), [200, undefined]],
  ['the same named by Connection', headers({ connection: 'x-user, close' }, 'x-user'), [200, 'ann']],
  ['an address that forwards', headers({ 'x-forwarded-for': '10.0.0.1' }, 'x-forwarded-for'), [200, '127.0.0.1']],
  ['an address of a client', headers({ 'client-ip': '10.0.0.1' }, 'client-ip'), [200, undefined]],
  ['an address that connects', headers({ 'cf-connecting-ip': '10.0.0.1' }, 'cf-connecting-ip'), [200, undefined]],
  [
    'another host that forwards',
    headers({ 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' }, 'forwarded'),
    [200, undefined],
  ],
  ['a path in place of the path', headers({ 'x-original-url': '/admin' }, 'x-original-url'), [200, undefined]],
  ['credentials for a proxy', headers({ 'proxy-authorization': 'Basic x' }, 'proxy-authorization'), [200, undefined]],
  ['the cookie of the session at the app', headers({}, 'cookie'), [200, undefined]],
  [
    'cookies around the cookie of the session',
    async ({ ann, origin, reached }) => {
      const own = ann.cookieFor('payroll.apps.test')
      const { status } = await ann.send(`${origin('payroll')}/`, { headers: { cookie: `a="1; ${own}; b=2"` } })
      return [status, reached.at(-1)?.headers.cookie]
    },
    [200, 'a="1; b=2"'],
  ],
  [
    'a name with a line end',
    async ({ net, loggedIn, origin, reached }) => {
      const { data } = await net.admin.call('GET /identities', { query: { filter: 'name="ann"' } })
      const params = { id: data[0]?.id ?? '' }
      await net.admin.call('PATCH /identities/{id}', { params, body: { name: 'ann\r\nx-admin: yes é%' } })
      const renamed = await loggedIn()
      await renamed.send(`${origin('payroll')}/`)
      await net.admin.call('PATCH /identities/{id}', { params, body: { name: 'ann' } })
      const seen = reached.at(-1)?.headers
      return [seen?.['x-user'], seen?.['x-admin']]
    },
    ['ann%0D%0Ax-admin:%20yes%20%C3%A9%25', undefined],
  ],
]

export const ANSWERS: readonly Attack[] = [
  [
    'a cookie for all apps',
    answered(`${OK}set-cookie: a=1; Domain=apps.test; Path=/\r\n\r\nok`, header('set-cookie')),
    ['a=1; Path=/'],
  ],
  [
    'a cookie of another domain',
    answered(`${OK}set-cookie: a=1; domain=login.test\r\n\r\nok`, header('set-cookie')),
    'none',
  ],
  [
    'the cookie of the gateway',
    answered(`${OK}set-cookie: __Host-portcullis-gateway=x; Path=/; Secure\r\n\r\nok`, header('set-cookie')),
    'none',
  ],
  [
    'the same in capitals',
    answered(`${OK}set-cookie: __HOST-Portcullis-Gateway=x\r\n\r\nok`, header('set-cookie')),
    'none',
  ],
  [
    'the same without a name',
    answered(`${OK}set-cookie: =__Host-portcullis-gateway=x\r\n\r\nok`, header('set-cookie')),
    'none',
  ],
  ['to clear what all apps keep', answered(`${OK}clear-site-data: "*"\r\n\r\nok`, header('clear-site-data')), 'none'],
  ['another server for the host', answered(`${OK}alt-svc: h2="evil.test:443"\r\n\r\nok`, header('alt-svc')), 'none'],
  ['a header of the connection', answered(`${OK}connection: x-a\r\nx-a: 1\r\n\r\nok`, header('x-a')), 'none'],
  ['a length and chunks', answered(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`), 502],
  ['two lengths', answered(`${OK}content-length: 3\r\n\r\nokk`), 502],
  [
    'another protocol, not asked for',
    answered('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    502,
  ],
  ['what is no HTTP', answered('+OK redis\r\n'), 502],
  ['nothing', answered(''), 502],
  ['headers of a megabyte', answered(`${OK}x-a: ${'a'.repeat(1_000_000)}\r\n\r\nok`), 502],
  [
    'a second answer',
    answered(`${OK}\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`, ({ body }) => body),
    'ok',
  ],
]

export const LOGINS: readonly Attack[] = [
  [
    'a cookie of another app',
    async ({ ann, browser, origin }) => {
      const cookie = ann.cookieFor('payroll.apps.test')
      return (await browser().send(`${origin('wiki')}/`, { headers: { cookie } })).status
    },
    401,
  ],
  [
    'a forged cookie',
    async ({ browser, origin }) => {
      const cookie = `__Host-portcullis-gateway=AAAAAAAAAAAAAAAAAAAAAA.${'A'.repeat(43)}`
      return (await browser().send(`${origin('payroll')}/`, { headers: { cookie } })).status
    },
    401,
  ],
  [
    'two cookies',
    async ({ ann, browser, origin }) => {
      const cookie = `__Host-portcullis-gateway=x; ${ann.cookieFor('payroll.apps.test')}`
      return (await browser().send(`${origin('payroll')}/`, { headers: { cookie } })).status
    },
    401,
  ],
  [
    'the way back in another browser, which would log a victim in as the attacker',
    async (world) => {
      const { last } = await loginOf(world)
      return (await world.browser().send(last)).status
    },
    400,
  ],
  [
    'the way back a second time',
    async (world) => {
      const { browser, last } = await loginOf(world)
      return (await browser.send(last)).status
    },
    400,
  ],
  [
    'the way back at another app',
    async (world) => {
      const { browser, last } = await loginOf(world)
      return (await browser.send(last.replace('//payroll.', '//wiki.'))).status
    },
    400,
  ],
  [
    'a state that was changed',
    async ({ ann, origin }) => {
      return (await ann.send(`${origin('home')}/.portcullis/login?state=AAAA${'A'.repeat(60)}`)).status
    },
    400,
  ],
  [
    'a code of the provider in a login of the victim',
    async (world) => {
      const attacker = world.browser()
      await attacker.logIn(`${world.origin('payroll')}/`, { username: 'bob', password: PASSWORD })
      const back = attacker.visited.find((url) => url.startsWith(`${world.origin('home')}/.portcullis/callback`)) ?? ''
      return (await world.browser().send(back)).status
    },
    400,
  ],
  [
    'a path that names another host',
    async (world) => {
      const { browser } = await loginOf(world, '//evil.test/x')
      return browser.visited.at(-1)?.replace(world.origin('payroll'), '')
    },
    '//evil.test/x',
  ],
  [
    'a path that names another host by a backslash',
    async (world) => {
      const browser = world.browser()
      const outgoing = browser.request(`${world.origin('payroll')}/`, {
        ...{ path: '/\\evil.test', headers: { 'sec-fetch-mode': 'navigate' } },
      })
      outgoing.end()
      const [answer]: IncomingMessage[] = await once(outgoing, 'response')
      return answer?.headers.location?.startsWith(`${world.origin('home')}/.portcullis/login?state=`)
    },
    true,
  ],
  [
    'a host of another domain',
    async ({ browser, port }) => {
      return (await browser().send(`https://payroll.evil.test:${port}/`)).status
    },
    421,
  ],
  [
    'a host of several labels',
    async ({ browser, port }) => {
      return (await browser().send(`https://a.payroll.apps.test:${port}/`)).status
    },
    421,
  ],
  [
    'a host with a dot at its end',
    async ({ browser, port }) => {
      const headers = { host: `payroll.apps.test.:${port}` }
      return (await browser().send(`https://payroll.apps.test:${port}/`, { headers })).status
    },
    421,
  ],
  [
    'ten thousand logins that nobody completes',
    async ({ browser, door, origin }) => {
      const before = door.logins
      const one = browser()
      for (let count = 0; count < 50; count += 1) {
        await one.send(`${origin('payroll')}/`, { headers: { 'sec-fetch-mode': 'navigate' } })
      }
      return door.logins - before
    },
    0,
  ],
]

const SIBLING = { 'sec-fetch-site': 'same-site', origin: 'https://wiki.apps.test' }
const STRANGER = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }

export const FOREIGN_PAGES: readonly Attack[] = [
  [
    'a link',
    foreign({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }),
    [200, true],
  ],
  ['a form', foreign({ ...STRANGER, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 'POST'), [403]],
  [
    'a form of another app',
    foreign({ ...SIBLING, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 'POST'),
    [403],
  ],
  [
    'a frame of another app',
    foreign({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }),
    [403],
  ],
  [
    'an image',
    foreign({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }),
    [403],
  ],
  [
    'a script of another app',
    foreign({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }),
    [403],
  ],
  ['fetch of another app', foreign({ ...SIBLING, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }), [403]],
  [
    'a preflight',
    foreign({ ...STRANGER, 'access-control-request-method': 'PUT', 'sec-fetch-mode': 'cors' }, 'OPTIONS'),
    [403],
  ],
  ['a form of a browser without metadata', foreign({ origin: 'https://evil.test' }, 'POST'), [403]],
  ['a form of a page without an origin', foreign({ origin: 'null' }, 'POST'), [403]],
  ['a form of a browser that sends a referrer alone', foreign({ referer: 'https://evil.test/' }, 'POST'), [403]],
  ['a program', foreign({}, 'POST'), [200, true]],
  ['a websocket of another app', foreign({ ...SIBLING, connection: 'Upgrade', upgrade: 'websocket' }), [403]],
  [
    'a logout',
    async ({ ann, origin }) => {
      const url = `${origin('payroll')}/.portcullis/logout`
      const posted = await ann.send(url, { method: 'POST', headers: { ...SIBLING, 'sec-fetch-mode': 'navigate' } })
      return [posted.status, (await ann.send(url)).status]
    },
    [403, 404],
  ],
]
