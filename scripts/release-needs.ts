/** The facts by which a release is judged before anything else is done. */
export interface ReleaseFacts {
  /** The manifest of the package. */
  readonly manifest: {
    readonly version: string
    readonly repository?: unknown
    readonly homepage?: unknown
    readonly bugs?: unknown
  }
  /** The changelog as it will be packed. */
  readonly changelog: string
  /** The names of the files in `.changeset`. */
  readonly changesets: readonly string[]
  /** The output of `git status --porcelain`. */
  readonly changedFiles: string
  /** The versions that the registry has; empty where it has no package of the name, undefined where it did not answer. */
  readonly published: readonly string[] | undefined
  /** Whether somebody said that this is the first publication: a registry trusts a workflow only for a package that is there. */
  readonly isFirst: boolean
}

/** Lists the things that a release lacks, one line each; empty when it lacks nothing. */
export function releaseNeeds(facts: ReleaseFacts): readonly string[] {
  const { manifest, changelog, changesets, changedFiles } = facts
  const { version, repository, homepage, bugs } = manifest
  const waiting = changesets.filter((name) => name.endsWith('.md') && name !== 'README.md')
  const heading = new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}(?![\\w.])(?![^\\n]*unreleased)`, 'im')
  return [
    ...(isRepository(repository)
      ? []
      : [
          'package.json needs `repository`: { "type": "git", "url": "git+https://…" }, which provenance is checked against',
        ]),
    ...(isAddress(homepage) ? [] : ['package.json needs `homepage`: the https address of the documentation']),
    ...(isAddress(addressOf(bugs))
      ? []
      : ['package.json needs `bugs`: { "url": "https://…" }, where defects are reported']),
    ...(waiting.length === 0 ? [] : [`changesets wait for \`npm run release:version\`: ${fewOf(waiting)}`]),
    ...(heading.test(changelog) ? [] : [`CHANGELOG.md needs a heading for ${version}, not called unreleased`]),
    ...(changedFiles.trim() === '' ? [] : ['the working tree has changes that are not committed']),
    ...registryNeeds(facts),
  ]
}

function registryNeeds({ manifest: { version }, published, isFirst }: ReleaseFacts): readonly string[] {
  if (published === undefined) return ['the registry does not answer: npm view says why']
  if (published.includes(version))
    return [`the registry has ${version} already: \`npm run release:version\` sets the next`]
  if (published.length === 0 && !isFirst) {
    return [
      'the registry has no package of this name, and anybody may take it: after `npm login` publish it once by `npm run release -- --publish --first`, then let the registry trust .github/workflows/release.yml',
    ]
  }
  return []
}

const MOST_NAMED = 3

function fewOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED
  return [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

function addressOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'url' in value ? value.url : value
}

function isRepository(repository: unknown): boolean {
  const url = addressOf(repository)
  return typeof url === 'string' && /^(?:git\+)?https:\/\/[^/\s]+\/\S+/.test(url)
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https:\/\/[^/\s]+/.test(value)
}
