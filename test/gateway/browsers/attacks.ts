/** The addresses that an attack is made of. */
export interface Aim {
  /** The address at the victim that the attack asks for. */
  readonly target: string
  /** A host of the attacker that redirects to what `to` says, by the status in `by`. */
  readonly redirector: string
}

/** A page of an attacker tries something: the body of a function that runs in the page. */
export interface Attack {
  readonly name: string
  script(aim: Aim): string
  /** A link leads there, which passes: the app is asked by one GET. */
  readonly isLink?: true
  /** A browser without metadata sends it like a link, or like a request of a page of the app itself: a GET, without a body or `Origin`. */
  readonly isPlainRead?: true
  /** The app asks for it by a page of its own. */
  readonly isFromApp?: true
}

const text = (value: string) => JSON.stringify(value)

/** A form that is sent a moment later, so that the driver has its answer before the page goes. */
function form(action: string, attributes: Readonly<Record<string, string>>): string {
  return `
    const form = document.createElement('form')
    for (const [name, value] of Object.entries(${JSON.stringify({ action, ...attributes })})) form.setAttribute(name, value)
    form.innerHTML = '<input name="amount" value="1">'
    document.body.append(form)
    setTimeout(() => form.submit(), 50)`
}

function element(tag: string, attributes: Readonly<Record<string, string>>): string {
  return `
    const one = document.createElement(${text(tag)})
    for (const [name, value] of Object.entries(${JSON.stringify(attributes)})) one.setAttribute(name, value)
    document.body.append(one)`
}

const fetching = (url: string, init: object) => `await fetch(${text(url)}, ${JSON.stringify(init)}).catch(() => 0)`

const redirected = ({ redirector, target }: Aim, status: number) =>
  `${redirector}?${new URLSearchParams({ to: target, by: `${status}` })}`

const FRAME = `
    const frame = document.createElement('iframe')
    frame.name = 'inside'
    document.body.append(frame)`

/** The attempts of pages of other origins. */
export const ATTACKS: readonly Attack[] = [
  // Links pass.
  {
    name: 'link',
    isLink: true,
    script: ({ target }) => `${element('a', { href: target })}\nsetTimeout(() => one.click(), 50)`,
  },
  { name: 'location', isLink: true, script: ({ target }) => `setTimeout(() => location.assign(${text(target)}), 50)` },
  { name: 'form-get', isLink: true, script: ({ target }) => form(target, { method: 'get' }) },
  {
    name: 'refresh',
    isLink: true,
    script: ({ target }) =>
      element('meta', { 'http-equiv': 'refresh', content: `0;url=${target}` }).replace('body', 'head'),
  },
  { name: 'window-open', isLink: true, script: ({ target }) => `window.opened = window.open(${text(target)})` },
  {
    name: 'link-redirected',
    isLink: true,
    script: (aim) => `setTimeout(() => location.assign(${text(redirected(aim, 302))}), 50)`,
  },

  // Forms.
  { name: 'form-post', script: ({ target }) => form(target, { method: 'post' }) },
  { name: 'form-post-text', script: ({ target }) => form(target, { method: 'post', enctype: 'text/plain' }) },
  { name: 'form-post-window', script: ({ target }) => form(target, { method: 'post', target: '_blank' }) },
  { name: 'form-post-frame', script: ({ target }) => FRAME + form(target, { method: 'post', target: 'inside' }) },
  { name: 'form-post-redirected', script: (aim) => form(redirected(aim, 307), { method: 'post' }) },
  {
    name: 'form-post-sandbox',
    script: ({ target }) =>
      element('iframe', {
        sandbox: 'allow-forms allow-scripts allow-top-navigation allow-popups',
        srcdoc: `<form method="post" target="_top" action="${target}"><input name="a"></form><script>document.forms[0].submit()</script>`,
      }),
  },

  // Content that pages embed.
  { name: 'image', isPlainRead: true, script: ({ target }) => element('img', { src: target }) },
  {
    name: 'image-no-referrer',
    isPlainRead: true,
    script: ({ target }) => element('img', { src: target, referrerpolicy: 'no-referrer' }),
  },
  { name: 'script', isPlainRead: true, script: ({ target }) => element('script', { src: target }) },
  {
    name: 'module',
    script: ({ target }) => element('script', { src: target, type: 'module', crossorigin: 'use-credentials' }),
  },
  { name: 'style', isPlainRead: true, script: ({ target }) => element('link', { rel: 'stylesheet', href: target }) },
  { name: 'video', isPlainRead: true, script: ({ target }) => element('video', { src: target, preload: 'auto' }) },
  {
    name: 'object',
    isPlainRead: true,
    script: ({ target }) => element('object', { data: target, width: '9', height: '9' }),
  },
  {
    name: 'embed',
    isPlainRead: true,
    script: ({ target }) => element('embed', { src: target, width: '9', height: '9' }),
  },
  { name: 'frame', isPlainRead: true, script: ({ target }) => element('iframe', { src: target }) },
  { name: 'frame-sandbox', isPlainRead: true, script: ({ target }) => element('iframe', { src: target, sandbox: '' }) },
  { name: 'prefetch', isPlainRead: true, script: ({ target }) => element('link', { rel: 'prefetch', href: target }) },
  {
    name: 'preload',
    isPlainRead: true,
    script: ({ target }) => element('link', { rel: 'preload', as: 'image', href: target }),
  },

  // Requests of scripts.
  {
    name: 'fetch',
    isPlainRead: true,
    script: ({ target }) => fetching(target, { mode: 'no-cors', credentials: 'include' }),
  },
  {
    name: 'fetch-omit',
    script: ({ target }) => fetching(target, { mode: 'no-cors', credentials: 'omit' }),
  },
  { name: 'fetch-cors', script: ({ target }) => fetching(target, { credentials: 'include' }) },
  { name: 'fetch-cors-omit', script: ({ target }) => fetching(target, { credentials: 'omit' }) },
  {
    name: 'fetch-post',
    script: ({ target }) =>
      fetching(target, { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'amount=1' }),
  },
  {
    name: 'fetch-post-keepalive',
    script: ({ target }) =>
      fetching(target, { method: 'POST', mode: 'no-cors', credentials: 'include', keepalive: true, body: 'amount=1' }),
  },
  {
    name: 'fetch-post-redirected',
    script: (aim) =>
      fetching(redirected(aim, 307), { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'a' }),
  },
  { name: 'fetch-put', script: ({ target }) => fetching(target, { method: 'PUT', credentials: 'include', body: 'a' }) },
  {
    name: 'fetch-json',
    script: ({ target }) =>
      fetching(target, {
        method: 'POST',
        credentials: 'include',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
  },
  {
    name: 'fetch-header',
    script: ({ target }) => fetching(target, { credentials: 'include', headers: { 'x-requested-with': 'page' } }),
  },
  { name: 'beacon', script: ({ target }) => `navigator.sendBeacon(${text(target)}, 'amount=1')` },
  {
    name: 'event-source',
    script: ({ target }) => `window.events = new EventSource(${text(target)}, { withCredentials: true })`,
  },
  {
    name: 'websocket',
    script: ({ target }) => `window.socket = new WebSocket(${text(target.replace('https:', 'wss:'))})`,
  },
  {
    name: 'websocket-sandbox',
    script: ({ target }) =>
      element('iframe', {
        sandbox: 'allow-scripts',
        srcdoc: `<script>new WebSocket(${text(target.replace('https:', 'wss:'))})</script>`,
      }),
  },

  // An app loads something of the attacker, which leads back to the app.
  {
    name: 'own-image-redirected',
    isFromApp: true,
    isPlainRead: true,
    script: (aim) => element('img', { src: redirected(aim, 302) }),
  },
  {
    name: 'own-script-redirected',
    isFromApp: true,
    isPlainRead: true,
    script: (aim) => element('script', { src: redirected(aim, 302) }),
  },
  {
    name: 'own-post-redirected',
    isFromApp: true,
    script: (aim) =>
      fetching(redirected(aim, 307), { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'a' }),
  },
]
