import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../adapters/tools/cli/commands/index.ts'
import { openTerminal } from '../../../adapters/tools/cli/output.ts'
import { commandHelp } from '../../../adapters/tools/cli/run-command-line.ts'
import { runProgram } from './run-program.ts'

const ALL = COMMANDS.flatMap(({ commands }) => commands)
const run = (...args: readonly string[]) => runProgram(args, {})
const ESCAPE = '\u001b'

describe('help', () => {
  it.each(ALL.map(({ name }) => name))('portcullis %s: by --help, -h and help', async (name) => {
    const answers = await Promise.all([
      run(...name.split(' '), '--help'),
      run(...name.split(' '), '-h'),
      run('help', ...name.split(' ')),
    ])
    for (const { code, stdout, stderr } of answers) {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(new RegExp(`^usage: portcullis ${name} `))
      expect(stdout).toBe(answers[0].stdout)
      for (const part of ['Options', '--help', 'Exit codes']) expect(stdout).toContain(part)
      // Where there is output, there is a form for programs.
      const command = await ALL.find((listed) => listed.name === name)?.load()
      expect(stdout.includes('--json')).toBe(command?.hasJson === true)
    }
  })

  it('of the program names every command, by its first word at least', async () => {
    const { stdout } = await run('-h')
    for (const { name } of ALL) expect(stdout).toMatch(new RegExp(`^  ${name.split(' ')[0]} `, 'm'))
  })

  it('of the program loads nothing of the engine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-help-'))
    const main = join(import.meta.dirname, '../../../adapters/tools/cli/main.ts')
    const hook = `import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) {
  const resolved = next(specifier, context)
  if (/\\/(src\\/(engine|http|resources|platform)|node_modules)\\//.test(resolved.url)) console.log('LOADED ' + resolved.url)
  return resolved
} })`
    await writeFile(join(folder, 'hook.mjs'), hook)
    const flags = ['--conditions=portcullis-source', '--import', join(folder, 'hook.mjs'), main]
    for (const args of [['--help'], ['--version'], ['admin', '-h'], ['identities', '-h']]) {
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...args])
      expect(stdout).not.toContain('LOADED')
    }
    await rm(folder, { recursive: true })
  })
})

describe('a terminal', () => {
  /** Everything that is written to a terminal, or to something else. */
  async function written(isTTY: boolean, environment: Readonly<Record<string, string>>) {
    const kept: string[] = []
    const stream = { isTTY, write: (text: string) => kept.push(text) > 0 }
    const terminal = openTerminal({ input: process.stdin, out: stream, error: stream }, environment)
    const [command] = ALL
    terminal.progress('half')
    if (command !== undefined) terminal.print(commandHelp(command, await command.load(), terminal.style))
    return kept.join('')
  }

  it('shows colours and progress; what is none, NO_COLOR and a dumb one show neither', async () => {
    expect(await written(true, {})).toContain(`${ESCAPE}[1mOptions`)
    expect(await written(true, {})).toContain('half')
    expect(await written(false, {})).not.toContain(ESCAPE)
    expect(await written(false, {})).not.toContain('half')
    expect(await written(true, { NO_COLOR: '1' })).not.toContain(`${ESCAPE}[1m`)
    expect(await written(true, { NO_COLOR: '' })).toContain(`${ESCAPE}[1m`)
    expect(await written(true, { TERM: 'dumb' })).not.toContain(ESCAPE)
  })
})

describe('portcullis completion', () => {
  it('bash completes commands, options and choices', async () => {
    const { code, stdout: script } = await run('completion', 'bash')
    expect(code).toBe(0)
    const complete = async (...words: readonly string[]) => {
      const call = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _portcullis; echo "\${COMPREPLY[@]}"`
      const { stdout } = await promisify(execFile)('bash', ['-c', call, 'bash', 'portcullis', ...words])
      return stdout.trim().split(' ')
    }
    expect(await complete('serv')).toEqual(['serve', 'services', 'service-policies', 'service-edge-router-policies'])
    expect(await complete('admin', '')).toEqual(['reset-password'])
    expect(await complete('admin', 'reset-password', '--password-f')).toEqual(['--password-file'])
    expect(await complete('identities', 'create', '--role')).toEqual(['--role-attributes'])
    expect(await complete('identities', 'create', '--type', '')).toContain('Device')
    expect(await complete('explain', 'laptop', 'd')).toEqual(['dial'])
  })

  it.each([
    ['zsh', '#compdef portcullis'],
    ['fish', 'complete -c portcullis'],
  ])('%s has a script', async (shell, text) => {
    expect(await run('completion', shell)).toMatchObject({ code: 0, stdout: expect.stringContaining(text) })
  })

  it('takes no other shell', async () => {
    expect(await run('completion', 'csh')).toMatchObject({ code: 2, stderr: 'completion takes bash, zsh or fish' })
  })
})
