import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

const DRIVER = '/usr/bin/WebKitWebDriver'
const BROWSER = ['4.1', '4.0', '6.0']
  .map((version) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`)
  .find((path) => existsSync(path))
const DISPLAY = '/usr/bin/Xvfb'

/** Whether pages can be looked at in the engine of Safari; without it those tests are skipped, and say so. */
export const HAS_WEBKIT = existsSync(DRIVER) && BROWSER !== undefined && existsSync(DISPLAY)
if (!HAS_WEBKIT) process.stdout.write('not seen in WebKit, because WebKitWebDriver or Xvfb is not there\n')

/** A page in WebKit, driven by the standard of drivers of browsers. */
export interface WebKitPage {
  /** Goes to an address. */
  goTo(url: string): Promise<void>
  /** Answers what the body of a function returns. */
  run(script: string): Promise<unknown>
  /** Writes a text into the field that a selector finds. */
  type(selector: string, text: string): Promise<void>
  /** Gives the window another size. Its bars take some pixels of the height, and it gets no narrower than they are (447). */
  resize(width: number, height: number): Promise<void>
  /** Everything is done in the first frame of the page from now on. */
  enterFrame(): Promise<void>
}

/** Opens a page in WebKit until the test is over. */
export async function openInWebKit(url: string): Promise<WebKitPage> {
  const display = `:${(await freePort()) % 30_000}`
  start(spawn(DISPLAY, [display, '-screen', '0', '2000x1300x24', '-nolisten', 'tcp'], { stdio: 'ignore' }))
  const port = await freePort()
  start(spawn(DRIVER, [`--port=${port}`], { stdio: 'ignore', env: { ...process.env, DISPLAY: display } }))
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(text !== undefined && { body: text }) })
    const value: unknown = Reflect.get(Object(await answer.json()), 'value')
    if (!answer.ok) throw new Error(JSON.stringify(value))
    return value
  }
  const alwaysMatch = {
    acceptInsecureCerts: true,
    'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] },
  }
  const opened = await untilIt(() => ask('POST', '/session', { capabilities: { alwaysMatch } }), isNotReached)
  const session = `/session/${String(Reflect.get(Object(opened), 'sessionId'))}`
  onTestFinished(async () => void (await ask('DELETE', session).catch(() => undefined)))
  const goTo = async (address: string) => void (await ask('POST', `${session}/url`, { url: address }))
  const run = (script: string) => ask('POST', `${session}/execute/sync`, { script, args: [] })
  await goTo(url)
  return {
    ...{ goTo, run },
    resize: async (width, height) => {
      await ask('POST', `${session}/window/rect`, { x: 0, y: 0, width, height })
    },
    enterFrame: async () => {
      await untilIt(
        () => ask('POST', `${session}/frame`, { id: 0 }),
        (error) => /no such frame/.test(String(error)),
      )
    },
    type: async (selector, text) => {
      const find = () => ask('POST', `${session}/element`, { using: 'css selector', value: selector })
      const found = await untilIt(find, (error) => /no such element/.test(String(error)))
      const [element] = Object.values(Object(found))
      await ask('POST', `${session}/element/${String(element)}/value`, { text })
    },
  }
}

/** Has a process end with the test. */
function start(child: ChildProcess): void {
  onTestFinished(() => void child.kill())
}

/** The driver listens a moment after it was started. */
function isNotReached(error: unknown): boolean {
  return error instanceof TypeError
}

/** Asks again, for ten seconds, while what went wrong is that something is not there yet. */
async function untilIt<T>(ask: () => Promise<T>, isTooEarly: (error: unknown) => boolean): Promise<T> {
  for (let left = 100; ; left -= 1) {
    try {
      return await ask()
    } catch (error) {
      if (left === 0 || !isTooEarly(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
