import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where the SDKs are kept between runs: fetching them takes a minute. */
const KEPT = join(tmpdir(), 'portcullis-clients')

const C_DRIVER = join(import.meta.dirname, 'c', 'drive.py')
const C_CARRIER = join(import.meta.dirname, 'c', 'carry.py')
const JVM = join(import.meta.dirname, 'jvm')

/** An unmodified SDK, ready to enroll with a token file and to dial a service. */
export interface Sdk {
  /** Enrolls with the token, dials the service, and answers its steps, a line each; `environment` is added to the one of this process. */
  drive(jwtFile: string, service: string): Promise<string[]>
  /** Starts a program that dials, or hosts, an echo; it writes a line when it is done, or hosts, and `tick` one for each echo. */
  carry(jwtFile: string, role: 'dial' | 'tick' | 'host', service: string): ChildProcess
}

/** The SDK for C inside the Python package `openziti`, from PyPI. */
export async function cSdk(): Promise<Sdk> {
  const python = join(KEPT, 'c', 'bin', 'python')
  await run('python3', ['-m', 'venv', join(KEPT, 'c')])
  await run(python, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', 'openziti'])
  return {
    drive: async (jwtFile, service) => linesOf(await run(python, [C_DRIVER, jwtFile, service])),
    carry: (...args) => started(python, [C_CARRIER, ...args]),
  }
}

/** The SDK for the JVM, from Maven Central. */
export async function jvmSdk(): Promise<Sdk> {
  const folder = join(KEPT, 'jvm')
  await mkdir(folder, { recursive: true })
  await copyFile(join(JVM, 'pom.xml'), join(folder, 'pom.xml'))
  await run('mvn', ['--quiet', '--batch-mode', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], {
    cwd: folder,
  })
  const classPath = join(folder, 'lib', '*')
  await run('javac', ['-d', folder, '-cp', classPath, join(JVM, 'Drive.java'), join(JVM, 'Carry.java')])
  // The SDK reaches into the JDK's sockets, which newer ones forbid.
  const opened = '--add-opens=java.base/java.net=ALL-UNNAMED'
  return {
    drive: async (jwtFile, service) =>
      linesOf(await run('java', [opened, '-cp', `${classPath}:${folder}`, 'Drive', jwtFile, service])),
    carry: (...args) => started('java', [opened, '-cp', `${classPath}:${folder}`, 'Carry', ...args]),
  }
}

const linesOf = ({ stdout }: { readonly stdout: string }) => stdout.trim().split('\n')

const started = (program: string, args: readonly string[]) =>
  spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
