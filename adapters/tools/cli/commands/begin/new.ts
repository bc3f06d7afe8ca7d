import { readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { VERSION } from '../../../../../src/version.ts'
import { type Answer, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { withoutMistakes } from '../model/model-files.ts'

interface Template {
  readonly about: string
  /** The packages that it takes beside portcullis. */
  readonly packages: readonly string[]
  /** Whether it has a program of its own; `test` has none. */
  readonly serves: boolean
}

const STORED = ['kysely', 'yaml']

const TEMPLATES: Readonly<Record<string, Template>> = {
  express: { about: 'an Express app with a controller', packages: [...STORED, 'express'], serves: true },
  hono: { about: 'a Hono app with a controller', packages: [...STORED, 'hono', '@hono/node-server'], serves: true },
  fastify: { about: 'a Fastify app with a controller', packages: [...STORED, 'fastify'], serves: true },
  'dark-app': { about: 'an app that listens on no port', packages: STORED, serves: true },
  server: { about: 'a controller with an edge router and the explorer', packages: STORED, serves: true },
  test: { about: 'a network with a test, and nothing that runs', packages: [], serves: false },
}

/** `portcullis new`. */
export const NEW = defineCommand({
  operands: 'FOLDER',
  options: {
    template: {
      value: Object.keys(TEMPLATES).join('|'),
      choices: Object.keys(TEMPLATES),
      summary: 'the kind of the project; default server',
    },
  },
  details: `Writes a typed project with a test into a new or empty folder, named for it. It runs TypeScript as it is, from Node 22.18 on.
Templates: ${Object.entries(TEMPLATES)
    .map(([name, { about }]) => `${name}, ${about}`)
    .join('; ')}.`,
  examples: ['portcullis new my-network --template express'],
  run: newProject,
})

/** Writes a project. Throws {@link UsageError} for a folder that is not empty, an unusable name, and an unknown template. */
async function newProject({ operands, options }: CommandCall<'template'>): Promise<Answer> {
  const [folder, ...others] = operands
  if (folder === undefined || others.length > 0) throw new UsageError('new takes one folder: portcullis new my-network')
  const name = basename(resolve(folder))
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) {
    throw new UsageError(`'${name}' is no name of a package: lower-case letters, digits, dots, hyphens and underscores`)
  }
  const chosen = options.typed('template') ?? 'server'
  const template = Object.hasOwn(TEMPLATES, chosen) ? TEMPLATES[chosen] : undefined
  if (template === undefined) {
    throw new UsageError(`--template takes ${Object.keys(TEMPLATES).join(', ')}: not '${chosen}'`)
  }
  await makeEmpty(folder)
  const manifest = createRequire(import.meta.url).resolve('portcullis/package.json')
  const sources = join(dirname(manifest), 'examples/templates')
  for (const from of template.serves ? ['shared', chosen] : ['shared']) {
    for (const file of readdirSync(join(sources, from))) {
      const text = await readFile(join(sources, from, file), 'utf8')
      await writeNew(join(folder, file), text.replaceAll("'../shared/", "'./"))
    }
  }
  const { devDependencies }: { readonly devDependencies: Readonly<Record<string, string>> } = JSON.parse(
    await readFile(manifest, 'utf8'),
  )
  const files = projectFiles(name, template, devDependencies)
  for (const [file, text] of Object.entries(files)) await writeNew(join(folder, file), text)
  const steps = [`cd ${folder}`, 'npm install', 'npm test', ...(template.serves ? ['npm start'] : [])]
  return { text: [`${folder} is ${template.about}:`, ...steps.map((step) => `  ${step}`)].join('\n') }
}

async function makeEmpty(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    if (readdirSync(folder).length === 0) return
  } catch (error) {
    throw new UsageError(`'${folder}' cannot be made: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
  throw new UsageError(`'${folder}' is not empty`)
}

/** Writes a file that is not there: another run may have begun in the folder. Throws {@link UsageError}. */
function writeNew(file: string, text: string): Promise<void> {
  return withoutMistakes(() => writeFile(file, text, { flag: 'wx' }))
}

/** The files of a project that follow from its template. */
function projectFiles(name: string, { about, packages, serves }: Template, versions: Readonly<Record<string, string>>) {
  const types = ['typescript', '@types/node', ...(packages.includes('express') ? ['@types/express'] : [])]
  const dated = (names: readonly string[]) =>
    Object.fromEntries(names.toSorted().map((one) => [one, one === 'portcullis' ? `^${VERSION}` : versions[one]]))
  const manifest = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: { ...(serves && { start: 'node main.ts' }), test: 'node --test *.test.ts', check: 'tsc' },
    dependencies: dated(['portcullis', ...packages]),
    devDependencies: dated(types),
  }
  return {
    'package.json': json(manifest),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'ES2024',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
        erasableSyntaxOnly: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        noEmit: true,
      },
    }),
    '.gitignore': 'node_modules\ndata\n',
    'README.md': [
      `# ${name}`,
      '',
      `This is ${about}.`,
      '',
      '- `npm install`, then `npm test` tries the network of `network.ts`, and `npm run check` its types.',
      ...(serves ? ['- `npm start` serves it at port 1280; `PORT` names another. Its data is in `data`.'] : []),
      ...(serves
        ? ['- `npx portcullis admin reset-password --storage sqlite:data/network.sqlite` makes an administrator.']
        : []),
      '- The guides: <https://www.npmjs.com/package/portcullis>.',
      '',
    ].join('\n'),
  }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
