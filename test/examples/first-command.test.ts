/** The first command on a checkout installs the dependencies, and never those of another checkout. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const SCRIPT = join(import.meta.dirname, '../../scripts/ensure-installed.mjs')

let folder: string
let checkout: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-checkout-'))
  checkout = join(folder, 'checkout')
  mkdirSync(join(checkout, 'scripts'), { recursive: true })
  cpSync(SCRIPT, join(checkout, 'scripts/ensure-installed.mjs'))
  writeFileSync(join(checkout, 'package-lock.json'), '{}')
  writeFileSync(
    join(folder, 'npm.mjs'),
    `import { writeFileSync } from 'node:fs'; writeFileSync('asked', process.argv[2])`,
  )
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the script as npm does, with a program in place of npm that only notes that it ran. */
function firstCommand() {
  execFileSync(process.execPath, ['scripts/ensure-installed.mjs'], {
    cwd: checkout,
    env: { ...process.env, npm_execpath: join(folder, 'npm.mjs') },
    stdio: 'ignore',
  })
  return existsSync(join(checkout, 'asked'))
}

test('a checkout without dependencies gets them', () => {
  expect(firstCommand()).toBe(true)
})

test('a checkout whose dependencies are a link to those of another one leaves them alone', () => {
  mkdirSync(join(folder, 'shared'))
  symlinkSync(join(folder, 'shared'), join(checkout, 'node_modules'))
  expect(firstCommand()).toBe(false)
})
