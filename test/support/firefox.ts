import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

const FIREFOX = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))

/** Whether pages can be looked at in Firefox; without it those tests are skipped, and say so. Node has websockets from 22 on. */
export const HAS_FIREFOX = FIREFOX !== undefined && 'WebSocket' in globalThis
if (!HAS_FIREFOX) process.stdout.write('not seen in Firefox, because it is not there, or Node has no WebSocket\n')

/** A page in Firefox, driven by WebDriver BiDi. */
export interface FirefoxPage {
  /** Goes to an address; a page that does not load is an error. */
  goTo(url: string): Promise<void>
  /** Answers what the body of a function returns, and waits for its promise. Values are those of JSON. */
  run(script: string): Promise<unknown>
  /** Writes a text into the field that a selector finds, by the keyboard. */
  type(selector: string, text: string): Promise<void>
  /** Gives the window another size, in pixels of the page. */
  resize(width: number, height: number): Promise<void>
}

/** A profile calls nobody, opens windows for scripts, and asks nothing. */
const QUIET = {
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'captivedetect.canonicalURL': '',
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.disable_open_during_load': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.server': 'data:,',
}

/** Opens a page in Firefox until the test is over. */
export async function openInFirefox(url: string): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), 'portcullis-firefox-'))
  const lines = Object.entries(QUIET).map(([name, value]) => {
    return `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`
  })
  await writeFile(join(profile, 'user.js'), lines.join(''))
  const port = await freePort()
  const args = ['--headless', '--no-remote', '--profile', profile, `--remote-debugging-port=${port}`, 'about:blank']
  const child = spawn(FIREFOX ?? '', args, { stdio: 'ignore', env: { ...process.env, MOZ_CRASHREPORTER_DISABLE: '1' } })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  onTestFinished(async () => {
    child.kill()
    await ended
    await rm(profile, { recursive: true, force: true })
  })
  const ask = bidi(await connected(`ws://127.0.0.1:${port}/session`))
  await ask('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  const { contexts } = await ask('browsingContext.getTree', {})
  const context = Reflect.get(Object(Object(contexts)[0]), 'context')
  const goTo = async (address: string) => {
    await ask('browsingContext.navigate', { context, url: address, wait: 'complete' })
  }
  const run = async (script: string): Promise<unknown> => {
    const expression = `(async () => { ${script} })().then((value) => JSON.stringify(value ?? null))`
    const target = { context }
    const answer = await ask('script.evaluate', { expression, target, awaitPromise: true, userActivation: true })
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer.exceptionDetails))
    return JSON.parse(String(Reflect.get(Object(answer.result), 'value')))
  }
  await goTo(url)
  return {
    ...{ goTo, run },
    resize: async (width, height) => {
      await ask('browsingContext.setViewport', { context, viewport: { width, height } })
    },
    async type(selector, text) {
      await run(`document.querySelector(${JSON.stringify(selector)}).focus()`)
      const keys = [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })))
      await ask('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions: keys }] })
    },
  }
}

type Answer = Readonly<Record<string, unknown>>

/** Connects when Firefox listens, which takes a moment. */
async function connected(url: string): Promise<WebSocket> {
  for (let left = 150; ; left -= 1) {
    const socket = new WebSocket(url)
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.addEventListener('open', () => resolve(true))
      socket.addEventListener('error', () => resolve(false))
    })
    if (isOpen) return socket
    if (left === 0) throw new Error('Firefox does not listen for WebDriver BiDi')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Sends commands of WebDriver BiDi, and answers their results. */
function bidi(socket: WebSocket): (method: string, params: object) => Promise<Answer> {
  const waiting = new Map<number, (message: Answer) => void>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const message: Answer = JSON.parse(String(data))
    waiting.get(Number(message.id))?.(message)
    waiting.delete(Number(message.id))
  })
  return async (method, params) => {
    last += 1
    const id = last
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { error, message, result } = await answered
    if (error !== undefined) throw new Error(`${method}: ${String(error)}: ${String(message)}`)
    return Object(result)
  }
}
