// Part of the Atrex-MLIR project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Starts the language server for .atx documents, and for .mlir documents that no
// other extension serves.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("atrex").get("server");
  client = new LanguageClient("atrex", "Atrex", { command }, { documentSelector: [{ language: "atx" }, { language: "mlir" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
