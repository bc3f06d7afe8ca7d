/** The options of commands that work on a storage which others may be serving. */
export const STORAGE_OPTIONS = {
  storage: {
    value: 'STORAGE',
    variable: true,
    summary: 'sqlite:FILE or postgres://…; default sqlite:.portcullis/portcullis.sqlite',
  },
  'table-prefix': { value: 'TEXT', variable: true, summary: 'stands before the names of the tables' },
  schema: { value: 'NAME', variable: true, summary: 'PostgreSQL schema of the tables' },
} as const
