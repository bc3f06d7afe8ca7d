/** The options of commands that ask a running controller. */
export const CONNECTION_OPTIONS = {
  url: {
    value: 'https://HOST:PORT',
    variable: true,
    summary: 'the controller to ask; default: that of the login profile',
  },
  ca: {
    value: 'FILE',
    variable: true,
    summary: "the controller's trust bundle, PEM; default: that of the profile, or the system's certificates",
  },
  profile: { value: 'NAME', variable: true, summary: 'a login of portcullis login; default: default' },
} as const
