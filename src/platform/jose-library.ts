let library: Promise<typeof import('jose')> | undefined

/** The library of JSON Web Tokens, loaded on first use and asked for once: each `import()` of a module takes as long as a digest. */
export function loadJose(): Promise<typeof import('jose')> {
  library ??= import('jose')
  return library
}
