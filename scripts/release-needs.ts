/** The facts by which a release is judged before anything else is done. */
export interface ReleaseFacts {
  /** The manifest of the package. */
  readonly manifest: {
    readonly version: string
    readonly repository?: unknown
    readonly homepage?: unknown
  }
  /** The changelog as it will be packed. */
  readonly changelog: string
  /** The names of the files in `.changeset`. */
  readonly changesets: readonly string[]
  /** The output of `git status --porcelain`. */
  readonly changedFiles: string
}

/** Lists the things that a release lacks, one line each; empty when it lacks nothing. */
export function releaseNeeds({ manifest, changelog, changesets, changedFiles }: ReleaseFacts): readonly string[] {
  const { version, repository, homepage } = manifest
  const waiting = changesets.filter((name) => name.endsWith('.md') && name !== 'README.md')
  const heading = new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}(?![\\w.])(?![^\\n]*unreleased)`, 'im')
  return [
    ...(isRepository(repository)
      ? []
      : [
          'package.json needs `repository`: { "type": "git", "url": "git+https://…" }, which provenance is checked against',
        ]),
    ...(isAddress(homepage) ? [] : ['package.json needs `homepage`: the https address of the documentation']),
    ...(waiting.length === 0 ? [] : [`changesets wait for \`npm run release:version\`: ${waiting.join(', ')}`]),
    ...(heading.test(changelog) ? [] : [`CHANGELOG.md needs a heading for ${version}, not called unreleased`]),
    ...(changedFiles.trim() === '' ? [] : ['the working tree has changes that are not committed']),
  ]
}

function isRepository(repository: unknown): boolean {
  const url = typeof repository === 'object' && repository !== null && 'url' in repository ? repository.url : repository
  return typeof url === 'string' && /^(?:git\+)?https:\/\/[^/\s]+\/\S+/.test(url)
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https:\/\/[^/\s]+/.test(value)
}
